'use strict';
'require view';
'require form';
'require uci';
'require depotd.options as options';
'require depotd.fleet as fleet';

/* Every option and its default: docs/configuration.md. */

const { addUses, checks, isLocal, optionsOf } = options;

/* One form for all sections of the file, some of which it may not have yet. */
const Section = form.NamedSection.extend({
  render() {
    return this.renderUCISection(this.section).then((nodes) => this.renderContents([{}, nodes]));
  },
});

function mainSection() {
  const anonymous = uci.sections('depotd', 'depotd').find((section) => section['.anonymous']);
  return uci.get('depotd', 'main') || !anonymous ? 'main' : anonymous['.name'];
}

function addAccess(shown, section) {
  const { list, choice } = optionsOf(shown, 'access', section);
  const more = optionsOf(shown, 'more', section);
  const auth = choice(
    'auth',
    [
      ['panel', _('device password')],
      ['password', _('own password')],
      ['none', _('none')],
    ],
    {
      title: _('Log-in'),
      help: _('The session of LuCI counts as device password. "depotctl passwd" sets an own one.'),
    },
  );
  const listen = more.list('listen', '127.0.0.1:8728', {
    check: checks.listen,
    title: _('Listen on'),
    help: _(
      'LuCI reaches depotd at unix:/var/run/depotd.sock: without it, this page does not open.',
    ),
  });
  auth.validate = (sectionId, value) => {
    const addresses = [].concat(listen.formvalue(sectionId) || []);
    const open = value === 'none' && addresses.find((address) => !isLocal(address));
    return !open || _('%s can be reached from other devices: choose a log-in').format(open);
  };
  list('hosts', '', {
    check: checks.host,
    title: _('Further names'),
    help: _('Such as nas.example.org, beside the names and addresses that the device has.'),
  });
  more.text('base', '/cgi-bin/panel', {
    check: checks.urlPath,
    title: _('Path'),
    help: _('Where the page and its interface are. The web server has to hand the same path on.'),
  });
}

function addStorage(shown, section) {
  const { text, number, choice } = optionsOf(shown, 'storage', section);
  const check = checks.path;
  text('state_dir', '/etc/depotd', {
    check,
    title: _('Records'),
    help: _(
      'Small and kept over an upgrade of the firmware. Counts after a restart, as the next two.',
    ),
  });
  text('log_dir', '/var/log/depotd', { check, title: _('Logs of tasks') });
  text('upload_dir', '/tmp/depotd', {
    check,
    title: _('Uploads'),
    help: _('Until their task has ended.'),
  });
  number('upload_max_mb', [1024, 1, 1048576], { title: _('Largest upload'), help: _('In MiB.') });
  number('keep_jobs', [100, 1, 100000], {
    title: _('Tasks kept'),
    help: _('A running task is never forgotten.'),
  });
  number('undo_mb', [64, 0, 1048576], {
    title: _('Room for undo'),
    help: _('In MiB, of what finished tasks replaced. 0: nothing can be undone.'),
  });
  number('queue_max', [2000, 1, 20000], {
    title: _('Waiting tasks'),
    help: _('One more is refused.'),
  });
  number('keep_log_mb', [32, 1, 1048576], {
    title: _('Logs kept'),
    help: _('In MiB, of tasks that have ended.'),
  });
  number('idle_exit_min', [0, 0, 525600], {
    title: _('End when idle'),
    help: _('After so many minutes, until somebody asks again. 0: never.'),
  });
  choice(
    'log_format',
    [
      ['auto', _('text, and JSON elsewhere', 'log format')],
      ['json', 'JSON'],
      ['text', _('text', 'log format')],
    ],
    { title: _('Form of the system log') },
  );
  choice(
    'log_level',
    [
      ['info', _('info', 'log level')],
      ['trace', 'trace'],
      ['debug', 'debug'],
      ['warn', _('warnings', 'log level')],
      ['error', _('errors', 'log level')],
      ['fatal', _('fatal errors', 'log level')],
      ['silent', _('nothing', 'log level')],
    ],
    { title: _('Least level of the system log') },
  );
}

function addPackages(shown) {
  const { number } = optionsOf(shown, 'packages', 'packages');
  number('update_every_h', [0, 0, 8760], {
    title: _('Look for newer versions'),
    help: _('Every so many hours by itself, such as 24. 0: never.'),
  });
}

function addContainers(shown) {
  const { text, list, choice } = optionsOf(shown, 'container', 'container');
  choice(
    'engine',
    [
      ['auto', _('whichever is there')],
      ['procd', _('init script "dockerd"')],
      ['systemd', _('unit "docker"')],
      ['command', _('the commands below')],
    ],
    {
      title: _('Control of the engine'),
      help: _('What stops and starts the container engine when its data moves.'),
    },
  );
  const commands = [
    list('start', '', { title: _('Command to start'), help: _('One argument a line.') }),
    list('stop', '', { title: _('Command to stop'), help: _('One argument a line.') }),
  ];
  for (const command of commands) {
    command.depends('container_engine', 'command');
    command.retain = true;
    command.rmempty = false;
  }
  text('socket', '/var/run/docker.sock', { check: checks.path, title: _('Socket of the engine') });
}

function addForge(shown) {
  const { text, number, choice } = optionsOf(shown, 'forge', 'forge');
  text('upstream', '', {
    check: checks.upstream,
    title: _('Address of the forge'),
    help: _('Such as https://forge.example.org. Empty: none.'),
  });
  text('path', '/api/v1', { check: checks.urlPath, title: _('Path of its API') });
  choice(
    'expose',
    [
      ['documented', _('documented routes')],
      ['read', _('those, and reading')],
      ['all', _('everything below the path')],
    ],
    { title: _('Reachable paths') },
  );
  text('token_file', '', {
    check: checks.path,
    title: _('File with the token of the device'),
    help: _('Who is logged in here uses the forge with it.'),
  });
  text('ca_file', '', {
    check: checks.path,
    title: _('File with a further certificate authority'),
  });
  const help = _('In seconds.');
  number('connect_timeout_s', [10, 1, 3600], { title: _('Time to connect'), help });
  number('first_byte_timeout_s', [120, 1, 86400], { title: _('Time to the first byte'), help });
  number('idle_timeout_s', [60, 1, 86400], { title: _('Longest pause'), help });
}

return view.extend({
  load() {
    return uci.load('depotd');
  },

  render() {
    const map = new form.Map(
      'depotd',
      _('Settings of depotd'),
      _('What is left empty has the default shown. Running tasks go on over a change.'),
    );
    const section = mainSection();
    const shown = map.section(Section, section, 'depotd');
    shown.tab('packages', _('Packages'));
    shown.tab('access', _('Access'));
    shown.tab('storage', _('Storage and log'));
    shown.tab('container', _('Containers'));
    shown.tab('forge', _('Code forge'));
    shown.tab('fleet', _('Fleet'));
    shown.tab('more', _('More'));
    addUses(shown);
    addAccess(shown, section);
    addStorage(shown, section);
    addPackages(shown);
    addContainers(shown);
    addForge(shown);
    fleet.addFleet(shown);
    return map.render();
  },
});
