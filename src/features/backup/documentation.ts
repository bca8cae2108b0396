import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';
import { managerName } from './manager-files.ts';
import { REASONS } from './manifest.ts';

const backup = api.titled('Backup', {
  id: v.string(),
  made_at: api.unixSeconds,
  bytes: api.integer,
  reason: api.described(
    'given: it was sent; firmware: what comes back by itself after a firmware upgrade',
    v.picklist(REASONS),
  ),
  release: api.described('of the firmware; empty if nothing said it', v.string()),
  architecture: v.string(),
  package_manager: managerName,
  packages: api.described('that the owner asked for', api.integer),
  has_packages: api.whether('whether it has package files'),
});

const EXAMPLE = '5f7c2b9d4e6a41538c1d2e3f4a5b6c7d';

export const BACKUP_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Backup',
  description: 'Sets of packages and configuration, and bringing them back.',
  operations: {
    'POST admin/store/backup': api.taskOperation('backUp'),
    'GET admin/store/backups': api.jsonOperation('listBackups', {
      description: 'the backups, newest first',
      schema: api.titled('BackupList', {
        backups: v.array(backup),
        after_upgrade: api.whether(
          'whether everything comes back by itself after a firmware upgrade',
        ),
      }),
      example: {
        backups: [
          {
            id: EXAMPLE,
            made_at: 1_795_000_000,
            bytes: 41_200,
            reason: 'asked',
            release: '24.10.4',
            architecture: 'x86_64',
            package_manager: 'opkg',
            packages: 23,
            has_packages: false,
          },
        ],
        after_upgrade: false,
      },
    }),
    'GET admin/store/backup_file': {
      operationId: 'getBackupFile',
      answers: {
        200: { description: 'the archive', contentType: 'application/gzip', headers: api.ATTACHED },
      },
      refusals: { 404: 'there is no backup of this id' },
    },
    'POST admin/store/add_backup': api.jsonOperation('addBackup', {
      description: 'all of it was checked, and it is there',
      schema: api.titled('AddedBackup', { code: api.integer, id: v.string() }),
      example: { code: 200, id: EXAMPLE },
      refusals: { 409: 'another backup has its id' },
    }),
    'POST admin/store/remove_backup': api.jsonOperation('removeBackup', {
      refusals: { 404: 'there is no backup of this id' },
      description: 'it is gone',
      ...api.DONE,
    }),
    'POST admin/store/set_backup': api.jsonOperation('setBackup', {
      description: 'it is set',
      ...api.DONE,
    }),
    'POST admin/store/restore': api.taskOperation('restoreBackup', {
      refusals: { 404: 'there is no backup of this id' },
    }),
  },
};
