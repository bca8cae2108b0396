import * as v from 'valibot';
import type { JsonObject } from './schemas.ts';

/**
 * What callers are told of a feature's operations beside what its routes say. It is loaded with the
 * first request for `openapi.json`: a daemon that nobody asks for it keeps none of it in memory.
 */
export interface FeatureDocumentation {
  /** Under which generated clients and pages put the operations together. */
  tag: string;
  description: string;
  /** By method and path, as the routes have them: `GET admin/store/token`. */
  operations: Readonly<Record<string, OperationDocumentation>>;
}

export interface OperationDocumentation {
  /** Unique among all; generated clients make a function of this name. */
  operationId: string;
  /** The good answers by status. */
  answers: Readonly<Record<number, AnswerDocumentation>>;
  /** Refusals of its own by status, beside those that all operations of its kind have. */
  refusals?: Readonly<Record<number, string>>;
  /** Whether a form of a page may be refused with a page in place of JSON. */
  isRefusedByPage?: boolean;
  /** By parameter: JSON Schema of what the schema of the request checks by a function. */
  parameters?: Readonly<Record<string, ParameterDocumentation>>;
  /** Parameters of which a request needs one. */
  needsEither?: readonly string[];
}

export interface ParameterDocumentation {
  /** A regular expression of ECMA-262 without lookaround, which other engines read, too. */
  pattern: string;
  maxLength?: number;
}

export interface AnswerDocumentation {
  description: string;
  /** Schema of a JSON body. */
  schema?: v.GenericSchema;
  /** A body that the schema lets through. */
  example?: unknown;
  /** The type of a body that is no JSON, or the types that it may have. */
  contentType?: string | readonly string[];
  /** What its headers say, by name. One with an ETag is asked for again with If-None-Match. */
  headers?: Readonly<Record<string, string>>;
}

/** Headers of an answer that a client may keep. */
export const ETAG = { ETag: 'of this answer, for If-None-Match' } as const;

/** Headers of an answer that a browser saves. */
export const ATTACHED = { 'Content-Disposition': 'attachment, with a name' } as const;

/** An interface that is passed on as it stands, as OpenAPI has it. */
export interface PassedInterface {
  tag: { name: string; description: string };
  securitySchemes: JsonObject;
  /** Operations by path, from the root of this host, and method in lower case. */
  paths: Record<string, JsonObject>;
}

export function described<Schema extends v.GenericSchema>(text: string, schema: Schema) {
  return v.pipe(schema, v.description(text));
}

/** What may be left out of an answer, with what is said of it. */
export function optional<Schema extends v.GenericSchema>(text: string, schema: Schema) {
  return v.optional(described(text, schema));
}

/** An object of which generated clients make a type of that name. */
export function titled<Entries extends v.ObjectEntries>(title: string, entries: Entries) {
  return v.pipe(v.object(entries), v.title(title));
}

export const integer = v.pipe(v.number(), v.integer());
export const unixSeconds = described('Unix seconds', integer);

/** An answer of a queued operation, in the shape that iStore's has. */
export const taskResult = titled('TaskResult', {
  code: described('0: accepted; 1: a queued task contradicts it', integer),
  stdout: v.string(),
  stderr: described('why it was not accepted; else empty', v.string()),
  task_id: optional('of the task, if it was accepted', v.string()),
});

/** The answer of an operation that says no more than that it is done. */
export const DONE = { schema: titled('Code', { code: integer }), example: { code: 0 } };

/** @param claim that holds if it is true */
export function whether(claim: string): v.GenericSchema<boolean, boolean> {
  return described(claim, v.boolean());
}

const EXAMPLE_TASK = {
  code: 0,
  stdout: '',
  stderr: '',
  task_id: '3f0c9a52d71b48e6a0f5c2d4e8b17a90',
};

/** An operation that is accepted at once and goes on as a task. */
export function taskOperation(
  operationId: string,
  own: Pick<OperationDocumentation, 'refusals' | 'needsEither'> = {},
): OperationDocumentation {
  return {
    ...own,
    operationId,
    answers: {
      200: {
        description: 'accepted (code 0) or refused by the queue (code 1)',
        schema: taskResult,
        example: EXAMPLE_TASK,
      },
    },
  };
}

type JsonAnswer = AnswerDocumentation & { schema: v.GenericSchema } & Pick<
    OperationDocumentation,
    'refusals'
  >;

/** An operation that answers with one kind of JSON body. */
export function jsonOperation(
  operationId: string,
  { refusals, ...answer }: JsonAnswer,
): OperationDocumentation {
  return { operationId, answers: { 200: answer }, ...(refusals && { refusals }) };
}
