import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import type { Shortfall } from '../../package-management/transaction/explained.ts';
import { ONLY, remember, transaction } from '../../package-management/transaction/transaction.ts';
import { lasting } from '../../package-management/transaction-slots.ts';
import { failureError, type Failure } from '../../package-management/failure.ts';
import { OWN_PACKAGE } from '../../package-management/names.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { isPresent } from '../../package-management/database.ts';
import type { Job } from '../../jobs/job.ts';
import { slots } from '../../jobs/memory.ts';
import { plainAct, plainCommand, type Plan, type Step, type StepContext } from '../../jobs/plan.ts';
import { beforeChangeStep, type PackageTools } from '../../package-management/package-tools.ts';
import { NOTHING_REPLACED, replaced } from '../../package-management/undo/undo-record.ts';
import type { SelfUpgradeHost } from './watcher.ts';

/**
 * @returns the newer version that the lists offer, if there is one
 * @throws DepotError internal if the store was not installed as a package
 */
export async function findSelfUpgrade(manager: PackageManager): Promise<string | undefined> {
  const installed = (await manager.installed()).get(OWN_PACKAGE);
  if (!isPresent(installed)) {
    const message = `cannot tell of an upgrade: ${OWN_PACKAGE} is not installed as a package`;
    throw new DepotError('internal', message);
  }
  const offered = (await manager.offers([OWN_PACKAGE])).get(OWN_PACKAGE)?.[0]?.version;
  const isNewer = offered !== undefined && manager.compareVersions(offered, installed.version) > 0;
  return isNewer ? offered : undefined;
}

const PURPOSE = `upgrade ${OWN_PACKAGE}`;

/** What the watcher's exit code says (watch.sh). */
const FAILURES: Record<number, string> = {
  3: 'the new version was not installed',
  4: 'the new version did not answer /healthz in time; the old one is put back',
  5:
    'the new version did not answer /healthz in time, and the old one could not be put back ' +
    'in order',
};
/** The package manager says why. */
const NOT_INSTALLED = 3;

export interface SelfUpgradeTools extends PackageTools {
  selfUpgrade: SelfUpgradeHost;
}

/** Which version it is about. */
const offer = slots('the upgrade', { version: v.optional(v.string()) });

/**
 * self-upgrade: keeps the package that runs as a file, and hands over to a watcher that needs no
 * daemon. The daemon that finds the watcher's exit code judges: the new one, or the old one put
 * back.
 */
export function selfUpgradePlan(tools: SelfUpgradeTools): Plan {
  const { selfUpgrade } = tools;
  const { steps, repair } = transaction(tools, ONLY, {
    verb: 'upgrade',
    purpose: PURPOSE,
    choosesFromFeeds: true,
    choose: (context) => choose(tools, context),
    behindChoice: [beforeChangeStep(tools, 'self_upgrade')],
    beforeCommand: [
      plainAct('keep-old-version', 'keep the old version', () =>
        selfUpgrade.saveOldVersion(OWN_PACKAGE),
      ),
    ],
    command: () => selfUpgrade.command(),
    isHandedOver: true,
    judge: (_after, _choice, { job }) => shortfallOf(job),
    record: () => selfUpgrade.forget(),
    isComplete: () => false,
  });
  return {
    steps,
    repair: [
      plainAct('forget-old-version', 'forget the old version', async (context) => {
        // The watcher judges by itself what came to the disk.
        lasting.write(context, { isWritten: true });
        // The watcher removes what it kept; if it never ran, this has to.
        if (context.job.runs === 0) await selfUpgrade.forget();
      }),
      ...watchAgain(tools),
      ...repair,
    ],
  };
}

async function choose({ manager }: SelfUpgradeTools, context: StepContext): Promise<void> {
  await manager.around.needSpace(PURPOSE);
  const version = await findSelfUpgrade(manager);
  if (version === undefined) {
    const reason = 'the lists offer no newer version';
    const remedy = 'Update the package lists, and look again.';
    throw failureError(PURPOSE, { code: 'not_found', package: OWN_PACKAGE, reason, remedy });
  }
  offer.write(context, { version });
  remember(context, manager, { verb: 'upgrade', names: [OWN_PACKAGE] });
}

function shortfallOf({ lastExitCode = 1 }: Readonly<Job>): Shortfall | Failure | undefined {
  if (lastExitCode === 0) return undefined;
  const reason = FAILURES[lastExitCode] ?? `the watcher ended with exit code ${lastExitCode}`;
  return lastExitCode === NOT_INSTALLED
    ? { reason, names: [OWN_PACKAGE], isForeign: true }
    : { code: 'unknown', package: OWN_PACKAGE, reason };
}

/**
 * A watcher that was killed, or that the power went under, leaves the version half replaced: it is
 * called again, though the init script may call one as well. In the end the version decides: if the
 * new one is there and answers, the job has done what it is for.
 */
function watchAgain({ manager, selfUpgrade }: SelfUpgradeTools): Step[] {
  return [
    plainCommand('watch-again', 'watch again', async () =>
      (await selfUpgrade.state()) === 'waiting' ? selfUpgrade.commandAgain() : undefined,
    ),
    plainAct('judge-again', 'check again', async (context) => {
      const { job, callDone } = context;
      const { version } = (await manager.installed()).get(OWN_PACKAGE) ?? {};
      const isNew = version !== undefined && version === offer.read(context).version;
      if ((await selfUpgrade.state()) !== 'gone') return;
      if (job.runs > 0 && isNew) callDone();
      // The watcher has put back what it replaced.
      else replaced.write(context, { undo: { ...NOTHING_REPLACED, packages: [] } });
    }),
  ];
}
