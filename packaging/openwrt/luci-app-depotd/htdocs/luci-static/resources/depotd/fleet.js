'use strict';
'require baseclass';
'require depotd.options as options';

/* The tab of the fleet. */

const { checks, optionsOf } = options;
const ABILITIES = [
  'install',
  'upgrade',
  'downgrade',
  'remove',
  'run',
  'self_upgrade',
  'settings',
  'collect',
  'reboot',
  'token',
  'firmware',
];

function addFleet(shown) {
  const { text, list, number, choice } = optionsOf(shown, 'fleet', 'fleet');
  const check = checks.path;
  text('server', '', {
    check: checks.fleet,
    title: _('Address of the fleet server'),
    help: _('Such as https://fleet.example.org. Who has it may change packages. Empty: none.'),
  });
  text('tenant', 'DEFAULT', { check: checks.tenant, title: _('Tenant there') });
  text('controller_id', '', {
    check: checks.deviceName,
    title: _('Name of this device there'),
    help: _('Empty: its own id.'),
  });
  text('token_file', '', {
    check,
    title: _('File with the token of the device'),
    help: _('"TargetToken TOKEN" or "GatewayToken TOKEN", mode 0600.'),
  });
  text('ca_file', '', { check, title: _('File with the only certificate authority') });
  text('cert_file', '', {
    check,
    title: _('File with a client certificate'),
    help: _('In place of a token.'),
  });
  text('cert_key_file', '', {
    check,
    title: _('File with its private key'),
    help: _('Mode 0600.'),
  });
  text('key_file', '', {
    check,
    title: _('File with a public key of usign'),
    help: _('Only what is signed with it is done, whatever the server says.'),
  });
  choice(
    'confirm',
    [
      ['auto', _('no')],
      ['ask', _('yes, unless it is forced')],
    ],
    {
      title: _('Ask the owner'),
      help: _('On the page of the apps, under Device, or by "depotctl fleet".'),
    },
  );
  list('allow', 'install, upgrade, downgrade', {
    check: (value) => ABILITIES.includes(value) || _('one of %s is expected').format(ABILITIES),
    title: _('What the server may do'),
    help: ABILITIES.join(', '),
  });
  list('settings', '', {
    check: checks.setting,
    title: _('Settings that it may change'),
    help: _('Such as network.lan.mtu.'),
  });
  list('mirrors', '', {
    check: checks.fleet,
    title: _('Mirrors of its files'),
    help: _('Asked first, without the token: MIRROR/SHA256.'),
  });
  number('download_kib_s', [0, 0, 1048576], {
    title: _('Most KiB a second for downloads'),
    help: _('0: no limit.'),
  });
  number('interval_max_s', [86400, 30, 86400], {
    title: _('Longest time between two polls'),
    help: _('In seconds.'),
  });
  number('limit_s', [3600, 10, 604800], { title: _('Longest time of an action in seconds') });
  number('reach_s', [120, 1, 3600], { title: _('Seconds to reach the server after settings') });
  addKnown(shown);
}

/* What operators know of the device. */
function addKnown(shown) {
  const { text, list, number, choice } = optionsOf(shown, 'fleet', 'fleet');
  list('tags', '', {
    check: checks.tag,
    title: _('Tags for operators'),
    help: _('Such as ring=canary.'),
  });
  choice(
    'report_apps',
    [
      ['no', _('no')],
      ['yes', _('yes')],
    ],
    {
      title: _('Send the list of installed apps'),
    },
  );
  choice(
    'report_addresses',
    [
      ['no', _('no')],
      ['yes', _('yes')],
    ],
    {
      title: _('Send the addresses in networks'),
    },
  );
  list('report_packages', '', {
    check: checks.package,
    title: _('Packages whose versions are sent'),
    help: _('Such as dnsmasq.'),
  });
  text('attributes_script', '', {
    check: checks.path,
    title: _('Program that prints further attributes'),
    help: _('Lines of KEY=VALUE. It and its folder belong to root.'),
  });
  number('attributes_every_min', [15, 0, 1440], {
    title: _('Minutes between two looks for changes'),
  });
}

return baseclass.extend({ addFleet });
