import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';
import { PLACE_KINDS } from '../../package-management/undo/undo-record.ts';
import { PROBLEM_CODES } from '../../package-management/problem.ts';
import { reportLine } from '../../package-management/transaction/report-line.ts';

/** What a task may be: what the features bring. */
const KINDS = [
  ...['install', 'remove', 'upgrade', 'update', 'autoconf', 'undo', 'unrun', 'upload'],
  ...['backup', 'restore', 'add_feed', 'remove_feed', 'set_feed', 'migrate', 'fleet'],
  'self-upgrade',
] as const;

const progress = api.titled('Progress', {
  label: api.described('the step that it is at', v.string()),
  done: api.described('steps', api.integer),
  total: api.described('steps', api.integer),
  percent: api.optional('of the step, if that can be told', v.number()),
});

const task = v.pipe(
  v.object({
    running: api.whether('whether it waits or runs'),
    exit_code: api.optional('0 exactly if it is done; 404 for an unknown task', api.integer),
    is_unknown: api.optional('there is no such task, or none any more', v.boolean()),
    command: v.optional(v.string()),
    start: v.optional(api.unixSeconds),
    stop: v.optional(api.unixSeconds),
    state: v.optional(
      v.picklist(['queued', 'running', 'done', 'failed', 'stopped', 'interrupted']),
    ),
    kind: api.optional(
      'another one is of another version, and cannot be done by this one',
      v.union([v.picklist(KINDS), v.string()]),
    ),
    package: api.optional('what it is about', v.string()),
    progress: v.optional(progress),
    error: api.optional('why it failed, in one sentence', v.string()),
    error_code: api.optional(
      'why, for programs. Each task that failed, was stopped or was interrupted has one',
      v.picklist(PROBLEM_CODES),
    ),
    remedy: api.optional('what the owner can do about it, in one sentence', v.string()),
    can_undo: api.optional('of a task that has changed packages or feeds', v.boolean()),
    no_undo: api.optional('why not, in one sentence', v.string()),
    kept_in: api.optional(
      'where what it replaced lies; memory is empty after a boot',
      v.picklist(PLACE_KINDS),
    ),
    confirm_by: api.optional(
      'it goes back by itself unless it is confirmed by then',
      api.unixSeconds,
    ),
    backup: api.optional('the id of the backup that it made', v.string()),
    report: api.optional('of a restore: what became of each package', v.array(reportLine)),
    packages: api.optional('names of the packages that it has changed', v.array(v.string())),
  }),
  // JSON Schema has no word for it; the tests hold every answer to it.
  v.check(
    ({ state, error_code: code, remedy }) =>
      !['failed', 'stopped', 'interrupted'].includes(state ?? '') ||
      (code !== undefined && remedy !== undefined && remedy !== ''),
    'a task that did not end well says why, and what can be done',
  ),
  v.title('Task'),
);

const NO_TASK = { 404: 'there is no such task' };

export const TASKS_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Tasks',
  description: 'What is done on the device, its state and its log.',
  operations: {
    'GET admin/system/tasks': api.jsonOperation('pingTasks', {
      description: 'an empty object',
      schema: api.titled('Nothing', {}),
      example: {},
    }),
    'GET admin/system/tasks/status': api.jsonOperation('getTasks', {
      description: 'the task that `task_id` names; without it all tasks by their ids',
      schema: v.union([task, v.pipe(v.record(v.string(), task), v.title('Tasks'))]),
      example: {
        running: true,
        command: 'install adfilter',
        start: 1_795_000_000,
        state: 'running',
        kind: 'install',
        package: 'adfilter',
        progress: { label: 'install', done: 2, total: 4 },
      },
    }),
    'GET admin/system/tasks/log': {
      operationId: 'readTaskLog',
      answers: {
        200: {
          description: 'what there is from the offset on',
          contentType: 'application/octet-stream',
        },
        204: { description: 'nothing new within a second' },
        205: { description: 'the offset is behind the end' },
      },
      refusals: NO_TASK,
    },
    'GET admin/system/tasks/events': {
      operationId: 'followTask',
      answers: {
        200: {
          description:
            '`log` (its id is the byte offset behind it), `status`, and `end` with the last status',
          contentType: 'text/event-stream',
          example: 'event: log\nid: 12\ndata: "Configuring.\\n"\n\n',
        },
        204: { description: 'the task has ended, and Last-Event-ID is that of its `end`' },
      },
      refusals: NO_TASK,
    },
    'POST admin/system/tasks/stop': {
      operationId: 'stopTask',
      answers: { 204: { description: 'it is dropped, or being stopped' } },
      refusals: NO_TASK,
    },
  },
};
