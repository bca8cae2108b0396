import * as v from 'valibot';
import {
  ATTACHED,
  described,
  integer,
  jsonOperation,
  taskOperation,
  titled,
  unixSeconds,
  whether,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';
import { managerName } from './manager-files.ts';
import { REASONS } from './manifest.ts';

const backup = titled('Backup', {
  id: v.string(),
  made_at: unixSeconds,
  bytes: integer,
  reason: described(
    'given: it was sent; firmware: what comes back by itself after a firmware upgrade',
    v.picklist(REASONS),
  ),
  release: described('of the firmware; empty if nothing said it', v.string()),
  architecture: v.string(),
  package_manager: managerName,
  packages: described('that the owner asked for', integer),
  has_packages: whether('whether it has package files'),
});

const EXAMPLE = '5f7c2b9d4e6a41538c1d2e3f4a5b6c7d';
const done = titled('Code', { code: integer });

export const BACKUP_DOCUMENTATION: FeatureDocumentation = {
  tag: 'Backup',
  description: 'Sets of packages and configuration, and bringing them back.',
  operations: {
    'POST admin/store/backup': taskOperation('backUp'),
    'GET admin/store/backups': jsonOperation('listBackups', {
      description: 'the backups, newest first',
      schema: titled('BackupList', {
        backups: v.array(backup),
        after_upgrade: whether('whether everything comes back by itself after a firmware upgrade'),
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
        200: { description: 'the archive', contentType: 'application/gzip', headers: ATTACHED },
      },
      refusals: { 404: 'there is no backup of this id' },
    },
    'POST admin/store/add_backup': jsonOperation('addBackup', {
      description: 'all of it was checked, and it is there',
      schema: titled('AddedBackup', { code: integer, id: v.string() }),
      example: { code: 200, id: EXAMPLE },
      refusals: { 409: 'another backup has its id' },
    }),
    'POST admin/store/remove_backup': jsonOperation('removeBackup', {
      refusals: { 404: 'there is no backup of this id' },
      description: 'it is gone',
      schema: done,
      example: { code: 0 },
    }),
    'POST admin/store/set_backup': jsonOperation('setBackup', {
      description: 'it is set',
      schema: done,
      example: { code: 0 },
    }),
    'POST admin/store/restore': taskOperation('restoreBackup', {
      refusals: { 404: 'there is no backup of this id' },
    }),
  },
};
