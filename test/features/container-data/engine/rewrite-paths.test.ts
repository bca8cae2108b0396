import { expect, test } from 'vitest';

import { redirectRecord } from '../../../../src/features/container-data/engine/rewrite-paths.ts';

/** Of a config.v2.json that dockerd 20.10.24 wrote. */
const RECORD = String.raw`{"Config":{"Cmd":["ls","/old/d\u0026r/volumes/x"],"Labels":{"root":"/old/d\u0026r/volumes/y"}},"LogPath":"/old/d\u0026r/containers/1/1-json.log","MountPoints":{"/vol":{"Source":"/old/d\u0026r/volumes/data/_data","Type":"volume"},"/etc":{"Source":"/old/d\u0026r2/volumes/x","Type":"bind"}},"Size":9007199254740993}`;

test("the paths that the engine has written down lead to the new place; the user's own, and numbers, stay as they are", () => {
  expect(redirectRecord(RECORD, { from: ['/old/d&r'], to: '/mnt/<new>' })).toBe(
    RECORD.replace(
      String.raw`"LogPath":"/old/d\u0026r/`,
      String.raw`"LogPath":"/mnt/\u003cnew\u003e/`,
    ).replace(String.raw`"Source":"/old/d\u0026r/`, String.raw`"Source":"/mnt/\u003cnew\u003e/`),
  );
});
