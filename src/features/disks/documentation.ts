import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const keys = {
  dev: v.string(),
  uuid: v.string(),
  version: v.string(),
  label: v.string(),
  mount: api.described('empty if it is not mounted', v.string()),
  type: v.string(),
  size: api.described('such as 238.46 GB, of 1024 to the step', v.string()),
};

const blockDevice = api.titled('BlockDevice', keys);
export type DiskItem = v.InferOutput<typeof blockDevice>;

const disk = api.titled('Disk', {
  ...keys,
  total_bytes: v.optional(api.integer),
  used_bytes: v.optional(api.integer),
  free_bytes: api.optional('what programs can use', api.integer),
  mounts: v.array(v.string()),
});
export type DiskWithSpace = v.InferOutput<typeof disk>;

const EXAMPLE_DEVICE = {
  dev: '/dev/sda1',
  uuid: '7b1c4f1e-0a54-4b0e-9a3c-2d8f6e5b1c22',
  version: '1.0',
  label: 'data',
  mount: '/mnt/sda1',
  type: 'ext4',
  size: '238.46 GB',
};

export const DISKS_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Disks',
  description: 'Devices with a file system or a mount.',
  operations: {
    'GET admin/store/get_block_devices': api.jsonOperation('listBlockDevices', {
      description: 'the devices by kernel name',
      schema: api.titled('BlockDevices', {
        code: api.integer,
        msg: v.string(),
        data: v.record(v.string(), blockDevice),
      }),
      example: {
        code: 200,
        msg: '',
        data: { sda1: EXAMPLE_DEVICE },
      },
    }),
    'GET admin/system/disks': api.jsonOperation('listDisks', {
      description: 'the devices by kernel name; without bytes if they are not mounted',
      schema: api.titled('Disks', { code: api.integer, data: v.record(v.string(), disk) }),
      example: {
        code: 200,
        data: {
          sda1: {
            ...EXAMPLE_DEVICE,
            total_bytes: 251_000_000_512,
            used_bytes: 131_983_548_416,
            free_bytes: 111_669_149_696,
            mounts: ['/mnt/sda1'],
          },
        },
      },
    }),
  },
};
