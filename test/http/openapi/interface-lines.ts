/** As much of a schema as programs rely on. */
interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
}

interface Operation {
  parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Readonly<Record<string, { schema?: Schema }>> };
  responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema?: Schema }>> }>>;
}

export interface InterfaceDocument {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components?: { schemas?: Readonly<Record<string, Schema>> };
}

/**
 * What programs may rely on, a line each: operations, what may be given, what is answered. `!`: has
 * to be given, or is always there.
 */
export function interfaceLines({ paths, components = {} }: InterfaceDocument): string[] {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : (components.schemas?.[schema.$ref.replace(/^.*\//, '')] ?? {});

  const fields = (given: Schema, prefix: string, seen: readonly Schema[] = []): string[] => {
    const schema = resolve(given);
    if (seen.includes(schema)) return [];
    const inside = [...seen, schema];
    if (schema.items !== undefined) return fields(schema.items, `${prefix}[]`, inside);
    const { required = [] } = schema;
    return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const path = `${prefix}.${name}`;
      const mark = required.includes(name) ? '!' : '';
      return [`${path}${mark}: ${typeOf(resolve(property))}`, ...fields(property, path, inside)];
    });
  };

  const lineOf = (
    title: string,
    { name, required, schema }: { name: string; required: boolean | undefined; schema: Schema },
  ): string[] => {
    const { type = '', enum: allowed = [] } = resolve(schema);
    const values = type.includes('boolean') ? FLAG_VALUES : allowed;
    return [
      `${title} ?${name}${required === true ? '!' : ''}`,
      ...values.map((value) => `${title} ?${name}=${String(value)}`),
    ];
  };

  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const title = `${method.toUpperCase()} ${path}`;
        const form = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
        const asked = (operation.parameters ?? [])
          .filter((parameter) => parameter.in === 'query')
          .flatMap(({ name, required, schema }) => lineOf(title, { name, required, schema }));
        // A form and an address carry the same parameters (docs/http-api.md).
        const sent = Object.entries(form?.properties ?? {}).flatMap(([name, schema]) =>
          lineOf(title, { name, required: form?.required?.includes(name), schema }),
        );
        const answered = Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
          !status.startsWith('2')
            ? []
            : Object.values(content).flatMap(({ schema }) =>
                schema === undefined ? [] : fields(schema, `${title} ${status}`),
              ),
        );
        return [title, ...asked, ...sent, ...answered];
      }),
    )
    .filter((line, index, all) => all.indexOf(line) === index)
    .sort();
}

/** What the daemon takes for a boolean. */
const FLAG_VALUES = ['0', '1', 'false', 'true'];

function typeOf({ type, enum: values, properties, items }: Schema): string {
  if (type !== undefined) return [type].flat().join('|');
  if (values !== undefined) return typeof values[0];
  if (properties !== undefined) return 'object';
  return items === undefined ? 'any' : 'array';
}

/** What would break a program that was written for the old interface. */
export function breaksIn(before: readonly string[], after: readonly string[]): string[] {
  const [old, current] = [new Set(before), new Set(after)];
  const isAsked = (line: string): boolean => / \?/.test(line);
  const without = (line: string): string => line.replace(/!(?=$|:)/, '');
  const gone = before
    .filter((line) => !current.has(line))
    // What had to be given and no longer has to, and an answer that is always there now, break nobody.
    .filter((line) =>
      isAsked(line)
        ? !current.has(without(line))
        : line.includes('!') || !current.has(line.replace(/(?=: [^:]*$)/, '!')),
    )
    // Nor does what an answer has always been, if only the document did not say so.
    .filter(
      (line) =>
        isAsked(line) ||
        !line.endsWith(': any') ||
        !after.some((each) => each.startsWith(line.slice(0, -'any'.length))),
    );
  const operations = new Set(before.filter((line) => line.split(' ').length === 2));
  const wanted = after.filter((line) => {
    const title = line.split(' ').slice(0, 2).join(' ');
    return isAsked(line) && /!(?:$|:)/.test(line) && !old.has(line) && operations.has(title);
  });
  return [...gone.map((line) => `gone: ${line}`), ...wanted.map((line) => `now needed: ${line}`)];
}
