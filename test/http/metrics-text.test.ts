import { expect, test } from 'vitest';

import { metricsText } from '../../src/http/metrics-text.ts';

test('a figure is written as Prometheus reads it, whatever its labels hold', () => {
  expect(
    metricsText([
      { name: 'a_total', type: 'counter', help: 'Of\nC:\\.', samples: [{ value: 1.5 }] },
      {
        name: 'b',
        type: 'gauge',
        help: 'B.',
        samples: [{ labels: { path: 'C:\\"x"\ny', z: '' }, value: 0 }],
      },
      { name: 'none', type: 'gauge', help: 'None yet.', samples: [] },
    ]),
  ).toBe(`# HELP a_total Of\\nC:\\\\.
# TYPE a_total counter
a_total 1.5
# HELP b B.
# TYPE b gauge
b{path="C:\\\\\\"x\\"\\ny",z=""} 0
# HELP none None yet.
# TYPE none gauge
`);
});
