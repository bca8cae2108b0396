import type { FeedPackage } from '../feed-index.ts';
import { program } from './package-parts.ts';

interface StoreApp {
  name: string;
  title: string;
  version: string;
  description: string;
  chineseTitle: string;
  chinese: string;
  tags: readonly string[];
  colour: string;
  /** The picture on the icon: an SVG path in a box of 24 by 24. */
  path: string;
  /** What its installation says, a line every three seconds. */
  steps?: readonly string[];
}

const APPS: readonly StoreApp[] = [
  {
    name: 'adfilter',
    title: 'Ad Filter',
    version: '2.4.1-3',
    description: 'Keeps advertising and trackers away from every device at home.',
    chineseTitle: '广告过滤',
    chinese: '为家中所有设备屏蔽广告和跟踪器。',
    tags: ['net', 'dns'],
    colour: '#2f9e63',
    path: 'M12 2l8 3v6c0 5-3.4 9.2-8 11-4.6-1.8-8-6-8-11V5zM8.5 12l2.5 2.5 4.5-5',
  },
  {
    name: 'medialibrary',
    title: 'Media Library',
    version: '10.9.8-1',
    description: 'Films, series and music from your disks, on the television and on the way.',
    chineseTitle: '媒体库',
    chinese: '把硬盘里的电影、剧集和音乐送到电视和手机上。',
    tags: ['multimedia'],
    colour: '#7a4fd0',
    path: 'M4 5h16v14H4zM10 9l5 3-5 3z',
    steps: [
      'Looking for disks',
      'Found /mnt/disk1/films: 412 files',
      'Found /mnt/disk1/music: 3806 files',
      'Reading titles and covers',
      'Making thumbnails',
    ],
  },
  {
    name: 'photobackup',
    title: 'Photo Backup',
    version: '1.118.2-1',
    description: 'Photos of every telephone in the family, kept on your own disk.',
    chineseTitle: '照片备份',
    chinese: '把全家手机里的照片备份到自己的硬盘。',
    tags: ['backup', 'photos'],
    colour: '#d9822b',
    path: 'M3 7h4l2-3h6l2 3h4v13H3zM12 10a4 4 0 100 8 4 4 0 000-8z',
  },
  {
    name: 'homehub',
    title: 'Home Hub',
    version: '2026.11.1-2',
    description: 'Lights, heating and sensors in one place, without any cloud.',
    chineseTitle: '家居中心',
    chinese: '在一处控制灯光、暖气和传感器，无需云服务。',
    tags: ['smart-home'],
    colour: '#1f7fd1',
    path: 'M3 11l9-8 9 8v10h-6v-6H9v6H3z',
  },
  {
    name: 'fileshare',
    title: 'File Share',
    version: '4.20.5-1',
    description: 'Folders on the local network, for Windows, macOS and Linux.',
    chineseTitle: '文件共享',
    chinese: '在局域网内共享文件夹，支持 Windows、macOS 和 Linux。',
    tags: ['nas', 'files'],
    colour: '#c0453f',
    path: 'M3 6h7l2 2h9v11H3z',
  },
  {
    name: 'privatevpn',
    title: 'Private VPN',
    version: '1.0.20-4',
    description: 'The way home from anywhere, encrypted.',
    chineseTitle: '私人 VPN',
    chinese: '随时随地加密连回家中。',
    tags: ['net', 'vpn'],
    colour: '#0f8a8a',
    path: 'M6 11V8a6 6 0 0112 0v3M5 11h14v10H5zM12 15v3',
  },
];

export type StoreLanguage = 'en' | 'zh-cn';

/** Apps that look like those of a store, for the demo and for pictures. */
export function storeApps(language: StoreLanguage = 'en'): FeedPackage[] {
  return APPS.flatMap((app) => [programOf(app), metaPackageOf(app, language)]);
}

function programOf({ name, version, description, steps = [] }: StoreApp): FeedPackage {
  const lines = steps.map((step) => `echo "${name}: ${step} ..."\nsleep 3\n`).join('');
  return {
    name,
    version,
    architecture: 'all',
    fields: { Depends: 'libc', Description: description, License: 'MIT', Section: 'apps' },
    files: { [`/usr/bin/${name}`]: program(name, version) },
    scripts: { postinst: `#!/bin/sh\n${lines}exit 0\n` },
  };
}

function metaPackageOf(app: StoreApp, language: StoreLanguage): FeedPackage {
  const { name, version, description, chinese, tags, colour, path } = app;
  const title = language === 'en' ? app.title : app.chineseTitle;
  const text = language === 'en' ? description : chinese;
  const [upstreamVersion, release] = version.split('-');
  const meta = {
    name,
    title,
    entry: `/cgi-bin/luci/admin/services/${name}`,
    version: upstreamVersion,
    release: Number(release),
    description: chinese,
    description_en: description,
    tags,
    depends: [name],
  };
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="${colour}"/><g transform="translate(4.2 4.2) scale(.65)" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round"><path d="${path}"/></g></svg>\n`;
  return {
    name: `app-meta-${name}`,
    version,
    architecture: 'all',
    // Of what is not installed the feed is all that there is to know.
    fields: {
      ...{ Depends: `libc, ${name}`, License: 'MIT', Section: 'apps' },
      Description: `${title}\n ${text}`,
    },
    files: {
      [`/usr/lib/opkg/meta/${name}.json`]: `${JSON.stringify(meta)}\n`,
      [`/www/luci-static/resources/app-icons/${name}.svg`]: icon,
    },
  };
}
