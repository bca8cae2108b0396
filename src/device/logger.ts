import { startDetached } from './exec.ts';

/**
 * Group commit: lines that come while logger(1) runs share its next run.
 * @returns what queues a line for syslog, without its line break
 */
export function createLogger({
  priority,
  environment,
  giveUp,
}: {
  /** Syslog's priority, as in `daemon.warning`. */
  priority: string;
  environment: Record<string, string>;
  /** Is given what no logger took. */
  giveUp: (lines: readonly string[]) => void;
}): (line: string) => void {
  let waiting: string[] = [];
  let isRunning = false;
  const argv: [string, ...string[]] = ['logger', '-t', `depotd[${process.pid}]`, '-p', priority];
  const sendAll = async (): Promise<void> => {
    isRunning = true;
    while (waiting.length > 0) {
      const lines = waiting;
      waiting = [];
      try {
        const logger = await startDetached({ argv, environment }, 2);
        logger.finishInput(lines.map((line) => `${line}\n`).join(''));
        await logger.ended;
      } catch {
        giveUp(lines);
      }
    }
    isRunning = false;
  };
  return (line) => {
    waiting.push(line);
    if (!isRunning) void sendAll();
  };
}
