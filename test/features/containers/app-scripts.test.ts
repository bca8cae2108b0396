import { expect, test } from 'vitest';

import { appOf, parseAppScript } from '../../../src/features/containers/app-scripts.ts';
import { runScript } from './container-app.ts';

const lines = (text: string): { names: string[]; projects: string[] } => {
  const { names, projects } = parseAppScript('app', text);
  return { names: [...names], projects: [...projects] };
};

test.each([
  ['docker rm -f app-server', ['app', 'app-server'], []],
  [`docker ps --all -f 'name=^/one$' --format x`, ['app', 'one'], []],
  ['cmd="$cmd --name two \\"$IMAGE\\""', ['app', 'two'], []],
  ['docker run --name="$NAME" --name \'three\' x', ['app', 'three'], []],
  ['docker $1 app; docker stop || true', ['app'], []],
  ['export COMPOSE_PROJECT_NAME=own\ndocker-compose up -d', ['app'], ['own']],
  ['docker compose -p "own" up', ['app'], ['own']],
  ['cd $config && docker compose up', ['app'], ['app']],
])('%j tells the containers and projects of an app', (text, names, projects) => {
  expect(lines(text)).toEqual({ names, projects });
});

test('a container belongs to the app that it is called after, whoever else names it', () => {
  const scripts = [
    parseAppScript('first', `${runScript('first')}\ndocker stop second`),
    parseAppScript('second', runScript('second')),
  ];
  const owner = (name: string, project?: string): string | undefined =>
    appOf({ name, project }, scripts);

  expect(owner('second')).toBe('second');
  expect(owner('first')).toBe('first');
  expect(owner('third')).toBeUndefined();
  expect(owner('first', 'of-the-owner')).toBeUndefined();
});
