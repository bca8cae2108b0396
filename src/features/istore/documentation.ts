import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const done = {
  description: 'it is kept',
  schema: api.titled('IstoreDone', { code: api.integer, msg: v.string() }),
  example: { code: 200, msg: 'Success' },
};

const list = {
  description: 'a list, as JSON in `msg`',
  schema: done.schema,
  example: { code: 200, msg: '["app-meta-notes"]' },
};

const userConfig = api.titled('IstoreConfig', {
  hide_docker: v.boolean(),
  ignore_arch: v.boolean(),
  ipv4: v.boolean(),
  last_path: v.optional(v.string()),
  super_arch: v.string(),
  channel: v.optional(v.string()),
});

const legacy = api.titled('IstoreLegacy', {
  seen: api.whether('iStore is installed'),
  records: api.described('uploads that it recorded; run_records lists them', api.integer),
  last_path: v.optional(v.string()),
  feeds: v.array(
    v.object({
      name: v.string(),
      url: v.string(),
      mirrors: api.described('the same elsewhere, asked first', v.array(v.string())),
      is_there: api.whether("among the device's feeds"),
    }),
  ),
  checks_signatures: api.whether('the device checks signatures of lists'),
});

/** What iStore left on the device, for who comes from it. */
export type IstoreLegacy = v.InferOutput<typeof legacy>;

export const ISTORE_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'iStore',
  description: "What iStore's own page asks for beside the store's operations.",
  operations: {
    'POST admin/store/toggle_docker': api.jsonOperation('toggleDocker', done),
    'POST admin/store/toggle_arch': api.jsonOperation('toggleArchitecture', done),
    'POST admin/store/toggle_ipv4': api.jsonOperation('toggleIpv4', done),
    'GET admin/store/get_support_backup_features': api.jsonOperation('getBackupKinds', list),
    'POST admin/store/light_backup': api.jsonOperation('lightBackup', done),
    'GET admin/store/get_light_backup_file': {
      operationId: 'getLightBackup',
      answers: {
        200: { description: 'the set', contentType: 'application/gzip', headers: api.ATTACHED },
      },
      refusals: { 404: 'there is no backup yet' },
    },
    'POST admin/store/light_restore': api.taskOperation('lightRestore'),
    'GET admin/store/get_backup_app_list_file_path': api.jsonOperation(
      'getBackupAppListPath',
      done,
    ),
    'GET admin/store/get_backup_app_list': api.jsonOperation('getBackupAppList', list),
    'POST admin/store/local_backup': api.taskOperation('localBackup'),
    'POST admin/store/local_restore': api.taskOperation('localRestore'),
    'GET admin/store/get_available_backup_file_list': api.jsonOperation('getBackupFiles', list),
    'POST admin/store/set_local_backup_dir_path': api.jsonOperation('setBackupFolder', done),
    'GET admin/store/get_local_backup_dir_path': api.jsonOperation('getBackupFolder', done),
    'GET admin/store/istore': api.jsonOperation('getIstoreLegacy', {
      description: 'what is there to be taken over',
      schema: legacy,
      example: {
        seen: true,
        records: 1,
        last_path: '/mnt/sda1',
        feeds: [
          {
            name: 'is_meta',
            url: 'https://store.example.org/repo/all/meta',
            mirrors: ['https://mirror.example.org/repo/all/meta'],
            is_there: false,
          },
        ],
        checks_signatures: true,
      },
    }),
    'GET admin/store/features': api.jsonOperation('getIstoreFeatures', {
      description: 'what the page shows buttons for',
      schema: v.array(v.string()),
      example: ['docker', 'luci-js'],
    }),
    'GET admin/store/user_config': api.jsonOperation('getIstoreConfig', {
      description: 'the options that the page knows',
      schema: userConfig,
      example: { hide_docker: false, ignore_arch: false, ipv4: false, super_arch: 'aarch64' },
    }),
  },
};
