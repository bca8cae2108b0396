import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const runRecord = api.titled('RunRecord', {
  id: v.string(),
  ts: api.described('when it was sent, Unix seconds', api.unixSeconds),
  md5: v.string(),
  file: api.described('the name that the sender gave it', v.string()),
});

const FILE_GONE = { 404: 'there is no such file, or it is of another session' };

export const UPLOADS_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Uploads',
  description: 'Files that are sent to be installed, and undoing what they brought.',
  operations: {
    'POST admin/store/upload': api.taskOperation('uploadFile'),
    'POST admin/store/install_file': api.taskOperation('installHeldFile', { refusals: FILE_GONE }),
    'POST admin/store/drop_file': api.jsonOperation('dropHeldFile', {
      refusals: FILE_GONE,
      description: 'the file is gone',
      ...api.DONE,
    }),
    'GET admin/store/run_records': api.jsonOperation('listUploads', {
      description: 'what was sent',
      schema: api.titled('RunRecords', { code: api.integer, records: v.array(runRecord) }),
      example: {
        code: 200,
        records: [
          {
            id: '1795000000-9e107d9d372bb6826bd81d3542a419d6',
            ts: 1_795_000_000,
            md5: '9e107d9d372bb6826bd81d3542a419d6',
            file: 'adfilter_2.4.1-3_all.ipk',
          },
        ],
      },
    }),
    'POST admin/store/unrun': api.taskOperation('undoUpload'),
    'POST admin/store/del_record': api.jsonOperation('forgetUpload', {
      description: 'the record is gone',
      ...api.DONE,
    }),
  },
};
