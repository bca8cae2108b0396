/**
 * How an application of LuCI is shown: its package has neither title nor tags, and its description
 * is either one line such as "LuCI support for Transmission" or sentences
 * (https://github.com/openwrt/luci, LUCI_TITLE and LUCI_DESCRIPTION in applications/).
 * @param subject the package's name without `luci-app-`
 */
export function describeLuciApp(subject: string, description: string) {
  const line = description.trim().replace(/\.$/, '');
  const titled = line.includes('\n') || line.length > LONGEST_LINE ? undefined : titleIn(line);
  return {
    // `adblock-fast` is Adblock fast.
    title: titled ?? withCapital(subject.replace(/[-_]+/g, ' ')),
    /** Whether the package's description says no more than the title. */
    isTitleAll: titled !== undefined || line === '',
    tags: tagsOf(`${subject} ${line}`),
  };
}

const LONGEST_LINE = 100;
const LONGEST_TITLE = 40;
const KIND =
  '(?:web )?(?:support|interface|ui|gui|app|application|page|pages|configuration|module|frontend)';
const FOR_SOMETHING = new RegExp(`^(?:luci|(?:luci )?${KIND}) (?:for|to) (?:the )?(.+)$`, 'i');
const OF_SOMETHING = new RegExp(`^(?:luci )?(.+?)(?: ${KIND})+$`, 'i');

/** @returns undefined for a sentence, or for words that name nothing */
function titleIn(line: string): string | undefined {
  const found = FOR_SOMETHING.exec(line)?.[1] ?? OF_SOMETHING.exec(line)?.[1];
  const title = found?.replace(/^luci\b[ :-]*|(?: config| package)?[ :-]*\bluci$/gi, '').trim();
  if (title === undefined || title === '' || title.length > LONGEST_TITLE) return undefined;
  return withCapital(title);
}

/** Names that have capitals elsewhere are left as they are: banIP, uHTTPd. */
function withCapital(text: string): string {
  return /^\p{Ll}[^\p{Lu}]*$/u.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** What people look for, by the words of names and descriptions. */
const SUBJECTS: readonly (readonly [tag: string, words: RegExp])[] = [
  ['ad blocking', /ad-?block|adguard|banip|adbyby/],
  ['VPN', /vpn|wireguard|zerotier|tailscale|softether|ipsec|strongswan|tinc|tor\b|xray/],
  ['DNS', /dns|unbound|stubby|resolver/],
  ['proxy', /proxy|socks|squid|polipo|privoxy/],
  ['firewall', /firewall|ban\b|banip|crowdsec|acl|splash/],
  ['Wi-Fi', /wifi|wireless|wlan|travelmate|usteer|dawn|hostapd|mesh|olsr|batman/],
  [
    'traffic',
    /qos|sqm|bandwidth|nlbw|vnstat|traffic|netstat|statistics|collectd|darkstat|nft-?qos/,
  ],
  ['storage', /samba|smb|ksmbd|nfs|disk|hdd|hd-idle|raid|partition|cifs|ftp|rclone|syncthing|usb/],
  ['media', /dlna|media|airplay|shairport|music|\bmpd|video|camera|mjpg|radio/],
  ['downloads', /transmission|aria2|torrent|amule|download|mldonkey/],
  ['printing', /print|p910nd|cups/],
  ['containers', /docker|lxc|podman|container/],
  ['mobile', /modem|sms|3g|lte|qmi/],
];

function tagsOf(text: string): string[] {
  const lower = text.toLowerCase();
  const found = SUBJECTS.filter(([, words]) => words.test(lower)).map(([tag]) => tag);
  return found.length === 0 ? ['system'] : found.slice(0, 2);
}
