/** What can be done about a problem, by the code that the daemon gives it. */
export const chineseRemedies = new Map([
  ['not_found', '请先更新软件包列表，然后在商店中搜索 {package} 的名称。'],
  ['dependency_missing', '请先更新软件包列表；如果仍然缺少，请添加提供它的软件源。'],
  ['dependency_conflict', '请先卸载互相冲突的软件包之一，然后重试。'],
  ['file_conflict', '请先卸载拥有该文件的软件包，然后重试。'],
  ['no_space', '请卸载软件包或删除文件以释放空间，然后重试。'],
  ['wrong_architecture', '请在适用于本设备架构的软件源中查找 {package}。'],
  ['kernel_mismatch', '请升级固件，或使用与固件版本一致的软件源：内核模块只适用于一个内核。'],
  ['needed_by', '请先卸载需要 {package} 的软件包。'],
  ['essential', '请保留 {package}：没有它设备无法工作。'],
  ['download_failed', '请检查网络连接，更新软件包列表后重试。'],
  ['checksum', '请更新软件包列表后重试；如果再次失败，说明软件源已损坏。'],
  ['signature', '请稍后或换一个网络再试：收到的内容与签名不符。'],
  ['damaged_package', '请重新下载，或从其他来源获取。'],
  ['script_failed', '请查看任务日志的末尾，了解 {package} 的脚本报告的问题。'],
  ['locked', '请等待另一个正在更改软件包的程序结束，然后重试。'],
  ['no_lists', '请检查网络连接，然后更新软件包列表。'],
  ['plan_too_large', '请移除提示中所说的软件源，更新软件包列表后重试。'],
  ['queue_full', '请等待部分任务结束，或停止一些等待中的任务。'],
  ['damaged_database', '请从备份恢复软件包数据库，或重新安装固件。'],
  ['held', '请先解除 {package} 的版本锁定，然后重试。'],
  ['not_allowed', '请保持不变，或以 root 身份在终端中更改。'],
  ['stopped', '如果仍然需要，请重新启动此任务。'],
  ['interrupted', '请确认设备供电稳定，然后重新启动此任务。'],
  ['unknown', '请查看任务日志的末尾。'],
]);

/** What the daemon says beside that, by its English words. */
export const chineseAdvice = new Map([
  [
    'Keep it; if it has to go, its own page removes it once its name is typed in, and so does ' +
      '"depotctl remove --system".',
    '请保留它；如果必须卸载，可在它自己的页面中输入名称后卸载，或使用“depotctl remove --system”。',
  ],
  ['Look at the list of what is installed for its name.', '请在已安装的内容列表中查找它的名称。'],
  // Of feeds.
  [
    'Check the address of the feed and the internet connection, then try again.',
    '请检查软件源的地址和网络连接，然后重试。',
  ],
  [
    'Check the address of the feed: what is there is no package list.',
    '请检查软件源的地址：那里的内容不是软件包列表。',
  ],
  [
    'Log in to the network first: a web page came in place of the list.',
    '请先登录网络：收到的是网页，而不是软件包列表。',
  ],
  [
    'Try later or from another network: the list was changed on its way.',
    '请稍后或换一个网络再试：列表在传输途中被更改。',
  ],
  [
    "Add the feed's public key if you trust the feed, or remove the feed.",
    '如果您信任此软件源，请添加它的公钥；否则请删除此软件源。',
  ],
  [
    'Ask whoever runs the feed to sign it, or remove the feed.',
    '请让软件源的维护者为它签名，或删除此软件源。',
  ],
  // What stops if a package is removed.
  ['the device does not start without it', '没有它设备无法启动'],
  ['this page cannot be opened any more', '将无法再打开此页面'],
  ['the device loses its network', '设备将失去网络'],
  [
    'devices of the network find no names and get no addresses',
    '网络中的设备将无法解析域名，也无法获得地址',
  ],
  ['the firewall stops', '防火墙将停止'],
  ['nobody can log in over SSH any more', '将无法再通过 SSH 登录'],
  ['it is part of the firmware, which may need it', '它是固件的一部分，固件可能需要它'],
]);
