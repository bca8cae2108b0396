/** What of the OpenAPI document is shown to people. */
export interface ApiDocument {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

interface ApiOperation {
  tags?: readonly string[];
  summary: string;
  parameters: readonly ApiParameter[];
  requestBody?: { content: Readonly<Record<string, { schema: ApiSchema }>> };
  responses: Readonly<Record<string, ApiResponse>>;
}

interface ApiParameter {
  name: string;
  in: string;
  required?: boolean;
  schema: ApiSchema;
}

interface ApiSchema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  enum?: readonly string[];
  properties?: Readonly<Record<string, ApiSchema>>;
  items?: ApiSchema;
  required?: readonly string[];
}

interface ApiResponse {
  description: string;
  content?: Readonly<Record<string, { schema?: ApiSchema }>>;
}

/**
 * The operations as tables of Markdown, one for each tag.
 * @param base the daemon's, which is written `{base}`
 */
export function operationTables(
  { tags, paths }: ApiDocument,
  { base, heading }: { base: string; heading: string },
): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return tags
    .map(({ name, description }) => {
      const rows = operations
        .filter(({ operation }) => operation.tags?.includes(name) === true)
        .map(({ path, method, operation }) => rowOf(shortPath(path, base), method, operation));
      return [
        `${heading} ${name}`,
        description,
        ['| operation | what | parameters | answers |', '|---|---|---|---|', ...rows].join('\n'),
      ].join('\n\n');
    })
    .join('\n\n');
}

function shortPath(path: string, base: string): string {
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1) || '/' : path;
}

function rowOf(path: string, method: string, operation: ApiOperation): string {
  const cells = [
    `${method.toUpperCase()} \`${path}\``,
    operation.summary,
    parametersOf(operation),
    answersOf(operation),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`;
}

/** In the order of the document; those that may be left out stand in parentheses. */
function parametersOf({ parameters, requestBody }: ApiOperation): string {
  const given = parameters
    .filter(({ in: position }) => position === 'query')
    .map(({ name, required, schema }) => parameter(name, schema, required === true));
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    schema.$ref === undefined
      ? Object.entries(schema.properties ?? {})
          .map(([name, each]) => parameter(name, each, schema.required?.includes(name) === true))
          .join(', ')
      : `${nameOf(schema)} as ${type}`,
  );
  return [...given, ...bodies].join(', ') || '–';
}

function parameter(name: string, schema: ApiSchema, isRequired: boolean): string {
  const isFlag = schema.type?.includes('boolean') === true;
  const allowed = isFlag ? ['true', 'false'] : (schema.enum ?? []);
  const values = allowed.length === 0 ? '' : `=${allowed.join('|')}`;
  const text = `\`${name}${values}\``;
  return isRequired ? text : `(${text})`;
}

function answersOf({ responses }: ApiOperation): string {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, { description, content = {} }]) => {
      const bodies = Object.entries(content).map(([type, { schema }]) =>
        type === 'application/json' && schema !== undefined ? nameOf(schema) : type,
      );
      return [status, ...bodies, description].filter((text) => text !== '').join(' ');
    })
    .join('; ');
}

/** `Task`, `ForgeReview[]`; empty for a schema without a name. */
function nameOf({ $ref, items }: ApiSchema): string {
  if ($ref !== undefined) return `\`${$ref.split('/').at(-1) ?? ''}\``;
  return items === undefined ? '' : nameOf(items).replace(/`$/, '[]`');
}
