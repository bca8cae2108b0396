import type { GenericSchema } from 'valibot';
import type { CharacterLimit } from '../parameter-schemas.ts';

export type JsonObject = Record<string, unknown>;

/** Turns schemas into JSON Schema; one that has a title becomes a component of that name. */
export type SchemaConverter = Awaited<ReturnType<typeof createSchemaConverter>>;

/** The library is loaded with the first document. */
export async function createSchemaConverter() {
  const { toJsonSchema } = await import('@valibot/to-json-schema');
  const components: Record<string, JsonObject> = {};
  return {
    convert: (schema: GenericSchema): JsonObject => {
      const converted: JsonObject = {
        ...toJsonSchema(schema, {
          errorMode: 'ignore',
          overrideAction: ({ valibotAction, jsonSchema }) =>
            isCharacterLimit(valibotAction)
              ? { ...jsonSchema, maxLength: valibotAction.mostCharacters }
              : undefined,
        }),
      };
      delete converted.$schema;
      return hoist(converted, components) as JsonObject;
    },
    /** Schemas by their titles. */
    components,
  };
}

function isCharacterLimit(action: object): action is CharacterLimit {
  return 'mostCharacters' in action && typeof action.mostCharacters === 'number';
}

/** Copies a schema, and leaves a reference where there was a title. */
function hoist(value: unknown, components: Record<string, JsonObject>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoist(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonObject = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, hoist(member, components)]),
  );
  const { title, ...schema } = copy;
  if (typeof title !== 'string') return copy;
  components[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}
