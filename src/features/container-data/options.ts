import {
  absolutePath,
  anyText,
  choice,
  list,
  text,
  type Contradiction,
  type Section,
  type ValuesOf,
} from '../../config/option.ts';

const OPTIONS = {
  engine: choice('who starts and stops the engine', ['auto', 'procd', 'systemd', 'command']),
  start: list('argument vector that starts the engine, one argument a list item', [], anyText),
  stop: list('argument vector that stops the engine, one argument a list item', [], anyText),
  socket: text('where the engine answers', '/var/run/docker.sock', absolutePath),
};

export type ContainerSettings = ValuesOf<typeof OPTIONS>;

const WITHOUT_COMMANDS: Contradiction = {
  options: ['engine', 'start', 'stop'],
  message: 'cannot use container.engine command without container.start and container.stop',
};

/** `config depotd 'container'`: how the container engine is reached, started and stopped. */
export const CONTAINER_SECTION: Section<typeof OPTIONS> = {
  name: 'container',
  options: OPTIONS,
  contradictions: ({ engine, start, stop }) =>
    engine === 'command' && (start.length === 0 || stop.length === 0) ? [WITHOUT_COMMANDS] : [],
};
