import { expect, test } from 'vitest';

import {
  decide,
  type Effect,
  type Heard,
  type State,
} from '../../../../src/features/fleet/agent/decide.ts';
import type { Urgency } from '../../../../src/features/fleet/agent/fleet.ts';
import { MOST_ATTEMPTS } from '../../../../src/features/fleet/job/action-plan.ts';
import type {
  ActionEnd,
  ActionRecord,
} from '../../../../src/features/fleet/records/action-record.ts';
import type { Job } from '../../../../src/jobs/job.ts';
import { jobOf as anyJob } from '../../../jobs/job-of.ts';

const KEY = 'this';
const WORK = { phases: [], settings: [], selfUpgrade: true } as unknown as ActionRecord['work'];

const DONE = { state: 'done' } as const;
const RESTART = { selfUpgrade: false, reboot: true } as unknown as ActionRecord['work'];

/** An action that the server has offered, and of which nothing has begun. */
function stateOf({
  record = {},
  ...state
}: Omit<Partial<State>, 'record'> & { record?: Partial<ActionRecord> } = {}): State {
  return {
    others: [],
    job: undefined,
    selfUpgrade: undefined,
    fetched: undefined,
    fetching: undefined,
    fetchFailure: undefined,
    confirm: 'auto',
    boot: { id: 'now', upS: 100 },
    otherTask: undefined,
    ...state,
    record: {
      ...{ key: KEY, from: 'server', actionId: '7', title: 'demo 2', createdAt: 1, number: 1 },
      ...{ attempts: 0, isCancelAsked: false, isReported: false, unknownReports: 0 },
      ...record,
    },
  };
}

const jobOf = (job: Partial<Job>): Job =>
  anyJob('job', { kind: 'fleet', state: 'running', ...job });

const end = (result: ActionEnd['result']): ActionEnd => ({ result, message: 'why', at: 1 });
const offer = (urgency: Partial<Urgency> = {}): Heard => ({
  kind: 'deployment',
  urgency: { download: 'attempt', update: 'attempt', ...urgency },
});
const BEGUN = { found: { packages: [], install: [] } };
const HERE = { fetched: KEY };
const OFFERS: [string, State, Heard, string[]][] = [
  ['its files are fetched first', stateOf(), offer(), ['notify download', 'fetch']],
  [
    'files that did not come are fetched again after a pause, and the server knows why',
    stateOf({ fetchFailure: { reason: 'why', isTooEarly: true } }),
    offer(),
    ['notify proceeding'],
  ],
  [
    'which is over some time',
    stateOf({ fetchFailure: { reason: 'why', isTooEarly: false } }),
    offer(),
    ['notify proceeding', 'fetch'],
  ],
  ['files that are on their way are waited for', stateOf({ fetching: KEY }), offer(), []],
  ['nothing is fetched that is not asked for yet', stateOf(), offer({ download: 'skip' }), []],
  ['with its files here it begins', stateOf(HERE), offer(), ['begin-job', 'notify proceeding']],
  ['a job that it has is left alone', stateOf({ ...HERE, record: { jobId: 'job' } }), offer(), []],
  [
    'it does not begin while another one has a job',
    stateOf({ ...HERE, others: [{ key: 'other', jobId: 'job', actionId: '6' }] }),
    offer(),
    ['notify scheduled'],
  ],
  [
    'another one that has not begun is over, and its files are fetched no more',
    stateOf({ others: [{ key: 'other', actionId: '6' }], fetching: 'other' }),
    offer(),
    ['stop-fetching', 'end other canceled'],
  ],
  [
    'what was only to be downloaded is over with its files here',
    stateOf(HERE),
    offer({ update: 'skip' }),
    ['end this downloaded', 'report-end'],
  ],
  [
    'ahead of its maintenance window it waits with its files here',
    stateOf(HERE),
    offer({ update: 'skip', maintenanceWindow: 'unavailable' }),
    ['notify downloaded'],
  ],
  [
    'what the owner has declined is over',
    stateOf({ ...HERE, record: { consent: 'denied' } }),
    offer(),
    ['end this canceled', 'report-end'],
  ],
  [
    'what is forced is done without consent',
    stateOf({ ...HERE, confirm: 'ask' }),
    offer({ update: 'forced' }),
    ['begin-job', 'notify proceeding'],
  ],
  [
    'one that is over is reported, and not begun again',
    stateOf({ ...HERE, record: { end: end('success') } }),
    offer({ update: 'forced' }),
    ['report-end'],
  ],
];

const CONSENT: Heard = { kind: 'confirmation' };
const CONSENTS: [string, State, Heard, string[]][] = [
  ['without a question consent is given', stateOf(), CONSENT, ['confirm given']],
  [
    'what may not be done is denied whoever would agree',
    stateOf({ record: { end: end('failure'), consent: 'given' } }),
    CONSENT,
    ['confirm denied'],
  ],
  [
    'what was denied, and said so, is not said again',
    stateOf({ record: { consent: 'denied', isReported: true } }),
    CONSENT,
    ['ask-owner'],
  ],
];

const CANCEL: Heard = { kind: 'cancel' };
const TRIED: Heard = { kind: 'cancel-tried', id: '9' };
const running = (memory: object, more: Partial<Job> = {}): Partial<State> => ({
  job: jobOf({ memory: { ...memory }, ...more }),
});
const CANCELS: [string, State, Heard, string[]][] = [
  ['what has not begun is over', stateOf(), CANCEL, ['change', 'end this canceled']],
  [
    'its files are fetched no more',
    stateOf({ fetching: KEY }),
    CANCEL,
    ['change', 'stop-fetching', 'end this canceled'],
  ],
  [
    'a job that has changed nothing is stopped',
    stateOf(running({})),
    CANCEL,
    ['change', 'stop-job'],
  ],
  ['a job that has changed something goes on', stateOf(running(BEGUN)), CANCEL, ['change']],
  ['a repair goes on', stateOf(running({}, { phase: 'repair' })), CANCEL, ['change']],
  ['one that goes on is refused', stateOf(running(BEGUN)), TRIED, ['answer-cancel rejected']],
  [
    'one that is being stopped is answered when it has ended',
    stateOf(running({}, { stopRequested: true })),
    TRIED,
    [],
  ],
  [
    'one that was given up is closed',
    stateOf({ record: { end: end('canceled') } }),
    TRIED,
    ['answer-cancel closed'],
  ],
  [
    'one that had ended before sends its end',
    stateOf({ record: { end: end('success') } }),
    TRIED,
    ['report-end-or-reject'],
  ],
];

const JOB: Heard = { kind: 'job' };
const tried = (job: Partial<Job> | undefined, record: Partial<ActionRecord> = {}): State =>
  stateOf({
    record: { attempts: 1, jobId: 'job', ...record },
    job: job === undefined ? undefined : jobOf(job),
  });
const JOBS: [string, State, Heard, string[]][] = [
  ['a job under way is waited for', tried({}), JOB, []],
  ['a job is found by its attempt', tried({}, { jobId: undefined }), JOB, ['change']],
  ['one that was never asked for is no end', tried(undefined, { jobId: undefined }), JOB, []],
  ['one that nobody knows any more is a failure', tried(undefined), JOB, ['end this failure']],
  ['one that is done is a success', tried({ state: 'done' }), JOB, ['end this success']],
  ['one that failed is a failure', tried({ state: 'failed' }), JOB, ['end this failure']],
  ['one that was stopped is canceled', tried({ state: 'stopped' }), JOB, ['end this canceled']],
  [
    'one that was interrupted before it did anything is tried again',
    tried({ state: 'interrupted' }),
    JOB,
    ['change'],
  ],
  [
    'one that was interrupted in the middle is a failure',
    tried({ state: 'interrupted', memory: BEGUN }),
    JOB,
    ['end this failure'],
  ],
  [
    'one that is interrupted each time is a failure',
    tried({ state: 'interrupted' }, { attempts: MOST_ATTEMPTS }),
    JOB,
    ['end this failure'],
  ],
  [
    "behind everything else depotd's own upgrade begins",
    tried({ state: 'done' }, { work: WORK }),
    JOB,
    ['change', 'upgrade-depotd'],
  ],
  [
    "the action ends with depotd's own upgrade",
    {
      ...tried({ state: 'done' }, { work: WORK, selfUpgradeAfter: '' }),
      selfUpgrade: jobOf({ id: 'upgrade', state: 'done' }),
    },
    JOB,
    ['change', 'end this success'],
  ],
  [
    'an earlier upgrade of depotd is not the end of the action',
    {
      ...tried({ state: 'done' }, { work: WORK, selfUpgradeAfter: 'earlier' }),
      selfUpgrade: jobOf({ id: 'earlier', state: 'done' }),
    },
    JOB,
    ['change', 'upgrade-depotd'],
  ],
  ['a restart comes last', tried(DONE, { work: RESTART }), JOB, ['restart-device']],
  [
    'a restart waits for another task',
    { ...tried(DONE, { work: RESTART }), otherTask: 'disk' },
    JOB,
    ['notify scheduled'],
  ],
  ['nor for what failed', tried({ state: 'failed' }, { work: RESTART }), JOB, ['end this failure']],
  [
    'a restart is not asked for twice within one boot',
    tried(DONE, { work: RESTART, restart: { boot: 'now', atS: 99 } }),
    JOB,
    [],
  ],
  [
    'a device that is still up has failed to restart',
    {
      ...tried(DONE, { work: RESTART, restart: { boot: 'now', atS: 99 } }),
      boot: { id: 'now', upS: 400 },
    },
    JOB,
    ['end this failure'],
  ],
  [
    'the next boot reports the end, whatever has become of the task',
    { ...tried({}, { work: RESTART, restart: { boot: 'before', atS: 9 } }), job: undefined },
    JOB,
    ['end this success'],
  ],
];

test.each([...OFFERS, ...CONSENTS, ...CANCELS, ...JOBS])('%s', (_, ...[state, heard, effects]) => {
  expect(decide(state, heard).map(nameOf)).toEqual(effects);
});

test.each([
  ['deployment', stateOf({ ...HERE, confirm: 'ask' }), offer()],
  ['confirmation', stateOf({ confirm: 'ask' }), CONSENT],
] as const)('by way of a %s the owner is asked, and nothing is done before', (_, state, heard) => {
  const effects = decide(state, heard).map(nameOf);
  expect(effects.filter((name) => name !== 'notify scheduled')).toEqual(['ask-owner']);
});

function nameOf(effect: Effect): string {
  switch (effect.do) {
    case 'end':
      return `end ${effect.key} ${effect.end.result}`;
    case 'confirm':
      return `confirm ${effect.consent}`;
    case 'notify':
    case 'answer-cancel':
      return `${effect.do} ${effect.feedback.execution}`;
    default:
      return effect.do;
  }
}
