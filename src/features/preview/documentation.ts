import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';
import { PROBLEM_CODES } from '../../package-management/problem.ts';
import { reportLine } from '../../package-management/transaction/report-line.ts';
import { RESTARTS } from '../../package-management/restarts.ts';
import { PLACE_KINDS } from '../../package-management/undo/undo-record.ts';
import { STOPS } from '../../package-management/system-packages.ts';

const texts = v.array(v.string());

const change = api.titled('PlannedChange', {
  name: v.string(),
  version: api.described('that comes; of a removal, that goes', v.string()),
  from_version: v.optional(v.string()),
  reason: api.described(
    'orphan: it came as a dependency, and nothing needs it any more; translation: of an app, ' +
      "for the panel's language, left out with translations=0",
    v.picklist(['asked', 'dependency', 'orphan', 'replaced', 'translation']),
  ),
  download_bytes: v.optional(api.integer),
  disk_bytes: api.described('what the storage grows by; may be negative', api.integer),
});

const problem = api.titled('Problem', {
  code: v.picklist(PROBLEM_CODES),
  package: v.optional(v.string()),
  message: api.described('the cause in one sentence', v.string()),
  remedy: api.described('what the owner can do about it', v.string()),
  missing_bytes: api.optional('of no_space: with what apk wants to spare', api.integer),
});

const plannedContainer = api.titled('PlannedContainer', {
  name: v.string(),
  image: api.described('it stays unless purge=1', v.string()),
  image_bytes: v.optional(api.integer),
  is_unpinned: api.optional('the image names no version: `latest` or none', v.boolean()),
  keeps: api.described("data folders of the app's own, which stay unless purge=1", texts),
});

const plan = api.titled('Plan', {
  installs: v.array(change),
  upgrades: v.array(change),
  removes: v.array(change),
  download_bytes: api.integer,
  disk_bytes: api.described('may be negative', api.integer),
  free_bytes: api.integer,
  free_after_bytes: api.described('may be negative', api.integer),
  problems: api.described(
    'the first has the error_code that the task would fail with; file_conflict and ' +
      'script_failed are never among them: no list of a feed names the files of a package',
    v.array(problem),
  ),
  is_possible: v.boolean(),
  stops: v.optional(STOPS),
  restarts: v.optional(RESTARTS),
  files: api.optional(
    'of an undo: files below /etc that go back; of a restore: files that come',
    texts,
  ),
  report: api.optional('of a restore: what would become of each package', v.array(reportLine)),
  kept_in: api.optional(
    'of an undo: where what was replaced lies; memory is empty after a boot',
    v.picklist(PLACE_KINDS),
  ),
  left: api.optional(
    'of an upgrade: what has a newer version and stays: it comes with the next firmware, is ' +
      'held, or its feed gives no upgrades',
    v.array(
      v.object({
        name: v.string(),
        reason: v.picklist(['firmware', 'held', 'feed']),
        feed: v.optional(v.string()),
      }),
    ),
  ),
  settings: api.optional(
    'of a removal: configuration files of what goes; those that were changed stay',
    texts,
  ),
  containers: api.optional(
    'of a removal: containers of the app, which go with it',
    v.array(plannedContainer),
  ),
  file: api.optional(
    'of the operation upload: what the file is',
    v.object({
      file: api.described('its id', v.string()),
      name: v.string(),
      kind: v.picklist(['package', 'program']),
      package: v.optional(v.string()),
      version: v.optional(v.string()),
      size_bytes: api.integer,
      sha256: v.string(),
    }),
  ),
});

export const PREVIEW_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Plan',
  description: 'What a change of packages would do, before it is made.',
  operations: {
    'GET admin/store/plan': api.jsonOperation('planChange', {
      refusals: { 404: 'there is no such file, task or backup' },
      description: 'what a task for the same request would do; nothing is fetched or changed',
      schema: plan,
      example: {
        installs: [
          {
            name: 'app-meta-adfilter',
            version: '2.4.1-3',
            reason: 'asked',
            download_bytes: 1560,
            disk_bytes: 4096,
          },
          {
            name: 'adfilter',
            version: '2.4.1-3',
            reason: 'dependency',
            download_bytes: 9_437_184,
            disk_bytes: 31_457_280,
          },
        ],
        upgrades: [],
        removes: [],
        download_bytes: 9_438_744,
        disk_bytes: 31_461_376,
        free_bytes: 29_360_128,
        free_after_bytes: -2_101_248,
        problems: [
          {
            code: 'no_space',
            package: 'adfilter',
            message: 'cannot install adfilter: it needs 30.00 MiB, 28.00 MiB are free for it',
            remedy: 'Free space on the device by removing packages or files, then try again.',
          },
        ],
        is_possible: false,
      },
    }),
  },
};
