import { reasonOf } from '../../../errors.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import type { Repair } from '../../manager.ts';
import type { Installation } from '../installation.ts';
import { checkPlan } from './plan-check.ts';
import { simulate } from './simulation.ts';

/**
 * What of a repair apk can be trusted with: its commands solve anew from world, too, so each has a
 * plan that must do nothing else.
 */
export async function checkRepair(
  { commands, reader, imagePackages }: Installation,
  { note }: StepContext,
  { came, half }: Repair,
): Promise<Repair> {
  const [database, image] = [await reader.read(), await imagePackages()];
  const isSafe = async (verb: 'remove' | 'upgrade', names: readonly string[]): Promise<boolean> => {
    if (names.length === 0) return true;
    const change = { verb, names };
    const simulated =
      verb === 'remove' ? commands : { simulate: () => withSimulation(commands.configure(names)) };
    try {
      checkPlan(await simulate(simulated, change), { change, database, image });
      return true;
    } catch (error) {
      await note(reasonOf(error));
      return false;
    }
  };
  return {
    came: (await isSafe('remove', came)) ? came : [],
    half: (await isSafe('upgrade', half)) ? half : [],
  };
}

function withSimulation<Command extends { argv: [string, ...string[]] }>(command: Command) {
  const [program, ...args] = command.argv;
  return { ...command, argv: [program, '--simulate', ...args] as [string, ...string[]] };
}
