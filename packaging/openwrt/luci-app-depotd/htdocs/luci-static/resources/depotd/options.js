'use strict';
'require baseclass';
'require form';
'require uci';

/* What the options of the form are made of, and how their values are checked. */

const ANY_ADDRESS = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/;
const LOCAL_ADDRESS = /^(unix:|localhost:|127(\.\d{1,3}){3}:|\[::1\]:)/;
const HOST = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/;
const URL_PATH = /^(\/[A-Za-z0-9._~-]+)+$/;
const SETTING = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_]+){1,2}$/;
const PACKAGE = /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,127}$/;
const TAG = /^[A-Za-z0-9_.-]{1,64}=[^<>]{0,128}$/;
const LOCAL_SERVER = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])([:/]|$)/;
const UPSTREAM = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/;

/* Tabs that are there only while what they are about is used. */
const USED_BY_FEW = ['forge', 'fleet'];

const isLocal = (address) => LOCAL_ADDRESS.test(address);

const isPath = (value) =>
  value.startsWith('/') &&
  value
    .slice(1)
    .split('/')
    .every((name) => !['', '.', '..'].includes(name));

const checks = {
  listen: (value) =>
    value.startsWith('unix:/') ||
    Number((ANY_ADDRESS.exec(value) || [])[2] ?? NaN) <= 65535 ||
    _('HOST:PORT, [IPv6]:PORT or unix:/PATH is expected'),
  host: (value) => HOST.test(value) || _('a host name, with a port or without, is expected'),
  path: (value) => isPath(value) || _('an absolute path without . and .. is expected'),
  urlPath: (value) =>
    (URL_PATH.test(value) && isPath(value)) || _('a path such as /cgi-bin/panel is expected'),
  fleet: (value) =>
    (UPSTREAM.test(value) && (value.startsWith('https:') || LOCAL_SERVER.test(value))) ||
    _('https://HOST[:PORT][/PREFIX] is expected'),
  tenant: (value) =>
    /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,39}$/.test(value) ||
    _('at most %d letters, digits and %s are expected').format(40, '. _ -'),
  deviceName: (value) =>
    /^[A-Za-z0-9_-][A-Za-z0-9._:-]{0,127}$/.test(value) ||
    _('at most %d letters, digits and %s are expected').format(128, '. _ : -'),
  setting: (value) =>
    SETTING.test(value) || _('CONFIG.SECTION.OPTION or CONFIG.SECTION is expected'),
  package: (value) => PACKAGE.test(value) || _('the name of a package is expected'),
  tag: (value) => TAG.test(value) || _('KEY=VALUE is expected'),
  upstream: (value) => UPSTREAM.test(value) || _('https://HOST[:PORT][/PREFIX] is expected'),
};

/*
 * Makes options of one section of the file, shown under one tab. Each gets its name, its default
 * (a number with its bounds, a choice as the first of its values) and what people read.
 */
function optionsOf(shown, tab, section) {
  const sectionType = ['container', 'forge', 'fleet'].includes(section) ? section : 'depotd';
  const add = (widget, name, { title, help, check }) => {
    const option = shown.taboption(tab, widget, `${tab}_${name}`, title, help);
    option.ucisection = section;
    option.ucioption = name;
    option.rmempty = true;
    if (USED_BY_FEW.includes(tab)) option.depends(`more_${tab}`, '1');
    if (check) option.validate = (sectionId, value) => !value || check(value);
    option.write = function (sectionId, value) {
      if (!uci.get('depotd', section)) uci.add('depotd', sectionType, section);
      return form.Value.prototype.write.call(this, sectionId, value);
    };
    return option;
  };
  return {
    text: (name, fallback, words) => {
      const option = add(form.Value, name, words);
      option.placeholder = fallback;
      return option;
    },
    list: (name, fallback, words) => {
      const option = add(form.DynamicList, name, words);
      option.placeholder = fallback;
      return option;
    },
    number: (name, [fallback, least, most], words) => {
      const option = add(form.Value, name, words);
      option.datatype = `and(uinteger,range(${least},${most}))`;
      option.placeholder = String(fallback);
      return option;
    },
    choice: (name, choices, words) => {
      const option = add(form.ListValue, name, words);
      option.optional = true;
      option.value('', _('Default: %s').format(choices[0][1]));
      for (const [value, label] of choices) option.value(value, label);
      return option;
    },
  };
}

/* With the use of something goes its tab, and all that was set there. */
function addUses(shown) {
  const uses = [
    ['forge', 'upstream', _('Use a code forge'), _('Its API comes through this device.')],
    ['fleet', 'server', _('Use a fleet server'), _('Packages can be managed from there.')],
  ];
  for (const [section, address, title, help] of uses) {
    const flag = shown.taboption('more', form.Flag, `more_${section}`, title, help);
    flag.load = () => (uci.get('depotd', section, address) ? '1' : '0');
    flag.write = () => {};
    flag.remove = () => {};
  }
}

return baseclass.extend({ addUses, checks, isLocal, optionsOf });
