import * as v from 'valibot';
import {
  integer,
  jsonOperation,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';

const blockDevice = v.pipe(
  v.object({
    dev: v.string(),
    uuid: v.string(),
    version: v.string(),
    label: v.string(),
    mount: v.pipe(v.string(), v.description('empty if it is not mounted')),
    type: v.string(),
    size: v.pipe(v.string(), v.description('such as 238.46 GB, of 1024 to the step')),
  }),
  v.title('BlockDevice'),
);

const blockDevices = v.pipe(
  v.object({ code: integer, msg: v.string(), data: v.record(v.string(), blockDevice) }),
  v.title('BlockDevices'),
);

export const DISKS_DOCUMENTATION: FeatureDocumentation = {
  tag: 'Disks',
  description: 'Devices with a file system or a mount.',
  operations: {
    'GET admin/store/get_block_devices': jsonOperation('listBlockDevices', {
      description: 'the devices by kernel name',
      schema: blockDevices,
      example: {
        code: 200,
        msg: '',
        data: {
          sda1: {
            dev: '/dev/sda1',
            uuid: '7b1c4f1e-0a54-4b0e-9a3c-2d8f6e5b1c22',
            version: '1.0',
            label: 'data',
            mount: '/mnt/sda1',
            type: 'ext4',
            size: '238.46 GB',
          },
        },
      },
    }),
  },
};
