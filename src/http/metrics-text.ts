/** One family of figures. `docs/http-api.md` lists them all. */
export interface Metric {
  /** Letters, digits and `_`; a counter ends with `_total`, a unit stands before that. */
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  samples: readonly Sample[];
}

export interface Sample {
  /** Labels of a figure, from a bounded set, never from a request. */
  labels?: Readonly<Record<string, string>>;
  value: number;
  /** What a histogram's samples have behind the name of their family. */
  suffix?: '_bucket' | '_sum' | '_count';
}

/** A family of one figure, or of samples with their labels. */
export const [gauge, counter] = [familyOf('gauge'), familyOf('counter')];

function familyOf(type: Metric['type']) {
  return (name: string, help: string, figure: number | Metric['samples']): Metric => ({
    name,
    type,
    help,
    samples: typeof figure === 'number' ? [{ value: figure }] : figure,
  });
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Prometheus' text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help.replace(/[\\\n]/g, escaped)}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(
        ({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${value}`,
      ),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\\n"]/g, escaped)}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
