import * as fc from 'fast-check';

/** One thing that is fed with generated inputs; each batch is repeated by its seed. */
export interface FuzzTarget {
  readonly name: string;
  /** Inputs a batch: as many as take about a second. */
  readonly runs: number;
  readonly fuzz: (batch: FuzzBatch) => Promise<FuzzOutcome>;
  readonly close?: () => Promise<void>;
}

export interface FuzzBatch {
  seed: number;
  runs: number;
}

export interface FuzzOutcome {
  tries: number;
  finding?: { input: unknown; problem: string };
}

/** What has no answer by then will have none. */
const LONGEST_CHECK_MS = 20_000;
const LONGEST_BATCH_MS = 60_000;

/** A promise of a parser over generated inputs. It throws, or answers why it does not hold. */
export function property<Input>(
  name: string,
  runs: number,
  {
    inputs,
    check,
  }: {
    inputs: fc.Arbitrary<Input>;
    check: (input: Input) => string | undefined | Promise<string | undefined>;
  },
): FuzzTarget {
  const holds = fc.asyncProperty(inputs, async (input) => {
    const problem = await check(input);
    if (problem !== undefined) throw new Error(problem);
  });
  return {
    name,
    runs,
    fuzz: async ({ seed, runs: numRuns }) => {
      const result = await fc.check(holds, {
        seed,
        numRuns,
        plugins: [fc.timeout(LONGEST_CHECK_MS), fc.interruptAfterTimeLimit(LONGEST_BATCH_MS)],
      });
      if (!result.failed || result.counterexample === null) return { tries: result.numRuns };
      const error = result.errorInstance;
      const [input] = result.counterexample as [Input];
      return {
        tries: result.numRuns,
        finding: { input, problem: error instanceof Error ? error.message : String(error) },
      };
    },
  };
}

/** Bytes of a well-formed input after a few edits: cut, flipped, doubled, or replaced by others. */
export function mutated(whole: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    kind: fc.constantFrom('cut', 'flip', 'double', 'insert', 'truncate'),
    length: fc.integer({ min: 1, max: 64 }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 16 }),
  });
  return fc
    .tuple(whole, fc.array(edit, { minLength: 1, maxLength: 4 }))
    .map(([content, edits]) => edits.reduce(applyEdit, content));
}

function applyEdit(
  content: Buffer,
  { at, kind, length, bytes }: { at: number; kind: string; length: number; bytes: Uint8Array },
): Buffer {
  const from = Math.floor(at * content.length);
  const [before, after] = [content.subarray(0, from), content.subarray(from)];
  switch (kind) {
    case 'cut':
      return Buffer.concat([before, after.subarray(length)]);
    case 'double':
      return Buffer.concat([before, after.subarray(0, length), after]);
    case 'insert':
      return Buffer.concat([before, bytes, after]);
    case 'truncate':
      return before;
    default:
      return Buffer.concat([before, bytes, after.subarray(bytes.length)]);
  }
}

/** The content in pieces of such sizes, one after the other and again. */
export async function* inPieces(content: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, index = 0; at < content.length; index += 1) {
    const size = Math.max(1, sizes[index % Math.max(1, sizes.length)] ?? content.length);
    yield content.subarray(at, at + size);
    at += size;
  }
}

export const pieceSizes = fc.array(fc.integer({ min: 1, max: 700 }), {
  minLength: 1,
  maxLength: 6,
});
