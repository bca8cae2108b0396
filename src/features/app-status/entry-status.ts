import * as v from 'valibot';
import type { RunResult } from '../../device/command.ts';
import { parseJson } from '../../device/durable-file.ts';

/**
 * What an entry script prints: a JSON object. Keys beside these differ from app to app and pass
 * through.
 */
const scriptOutput = v.looseObject({
  running: v.boolean(),
  docker: v.optional(v.boolean(), false),
  deployed: v.optional(v.boolean()),
  web: v.optional(v.string()),
  href: v.optional(v.string()),
});

export type EntryStatus = v.InferOutput<typeof scriptOutput> & { app: string };

/** Why an app has no status: 404 if it has no entry script to ask, 500 if that failed. */
export interface EntryError {
  app: string;
  code: 404 | 500;
  msg: string;
}

export type EntryResult = { status: EntryStatus } | { error: EntryError };

/**
 * Judges what a script did. Its output may hold secrets (an RPC token, a password), so none of it
 * goes into the message.
 */
export function readEntryStatus(
  app: string,
  result: RunResult,
  limits: { timeoutMs: number; maxBytes: number },
): EntryResult {
  const failed = (why: string): EntryResult => ({
    error: { app, code: 500, msg: `cannot tell the status of ${app}: its entry script ${why}` },
  });
  if (result.cutShortBy === 'time') return failed(`took longer than ${limits.timeoutMs / 1000} s`);
  if (result.cutShortBy === 'output') {
    return failed(`printed more than ${limits.maxBytes / 1024} KiB`);
  }
  if (result.cutShortBy === 'stop') return failed('was ended: the daemon is stopping');
  if (result.exitCode === undefined) return failed('could not be run');
  if (result.exitCode !== 0) return failed(`ended with exit code ${result.exitCode}`);
  const parsed = v.safeParse(scriptOutput, parseJson(result.stdout));
  return parsed.success ? { status: { ...parsed.output, app } } : failed('printed no status');
}
