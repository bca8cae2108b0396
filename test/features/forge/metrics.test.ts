import { expect, test } from 'vitest';

import { metricsText } from '../../../src/http/metrics-text.ts';
import { ask, startDevice } from './device.ts';
import { startUpstream } from './upstream.ts';

test('metrics count requests, time and bytes by operation, whatever the paths are; health tells of the upstream', async () => {
  const upstream = await startUpstream((response) => response.end('12345'));
  const device = await startDevice({ upstream: upstream.url });
  expect(device.forge.health()).toEqual({ configured: true });
  for (let count = 0; count < 20; count += 1) {
    await ask(device.port, `/api/v1/repos/o${count}/r/contents?x=${count}`);
  }
  await ask(device.port, '/api/v1/repos/o/r/contents/x', { method: 'PUT', body: 'abc' });
  await ask(device.port, '/api/v1/nowhere');

  const lines = metricsText(device.forge.metrics()).trimEnd().split('\n');

  expect(lines).toContain(
    'depotd_forge_requests_total{method="GET",route="/repos/{owner}/{repo}/contents",status="2xx"} 20',
  );
  expect(lines).toContain(
    'depotd_forge_response_bytes_total{method="GET",route="/repos/{owner}/{repo}/contents"} 100',
  );
  expect(lines).toContain(
    'depotd_forge_request_bytes_total{method="PUT",route="/repos/{owner}/{repo}/contents/{filepath...}"} 3',
  );
  expect(lines).toContain(
    'depotd_forge_request_duration_seconds_count{method="GET",route="/repos/{owner}/{repo}/contents"} 20',
  );
  expect(lines).toContain('depotd_forge_failures_total{error="not_found"} 1');
  expect(lines).toContain('depotd_forge_connections{state="waiting"} 0');
  expect(
    lines.every((line) =>
      /^(?:# (?:HELP|TYPE) |\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [0-9.]+$)/.test(line),
    ),
  ).toBe(true);
  expect(device.forge.health()).toMatchObject({ configured: true, reachable: true });
  await device.close();
  await upstream.close();
});
