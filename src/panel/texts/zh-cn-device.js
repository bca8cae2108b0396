/** The device: its health, disks, feeds and uploads, in simplified Chinese. */
export const chineseDevice = [
  ['Device', '设备'],
  ['Overview', '概览'],
  ['Model', '型号'],
  ['System', '系统'],
  ['Kernel', '内核'],
  ['Architecture', '架构'],
  ['Packages by', '包管理器'],
  ['Running for', '运行时间'],
  ['Load', '负载'],
  ['Space for packages', '软件包空间'],
  ['Data', '数据'],
  ['Memory', '内存'],
  ['{free} of {total} free', '剩余 {free}，共 {total}'],
  ['Check for upgrade', '检查升级'],
  ['Looking …', '正在检查…'],
  [
    'The lists have no newer version. “Update lists” fetches them.',
    '列表中没有更新的版本。可以先点击“更新列表”。',
  ],
  ['Version {version} is there.', '有新版本 {version}。'],
  ['Upgrade depotd to {version}?', '将 depotd 升级到 {version}？'],
  [
    'The app service starts again in between; this page waits and goes on by itself. If ' +
      'the new version does not answer, the old one is put back.',
    '升级过程中应用服务会重新启动，此页面会等待并自动继续。如果新版本没有响应，将恢复旧版本。',
  ],
  ['Not now', '暂不升级'],
  ['depotd was upgraded, and has a new page.', 'depotd 已升级，页面也有更新。'],
  ['Load it', '重新加载'],

  // Health.
  ['Health', '健康状况'],
  ['Check again', '重新检查'],
  ['No problems found.', '没有发现问题。'],
  ['{count} checks without a problem', '{count} 项检查没有问题'],
  ['In order', '正常'],
  ['Warning', '警告'],
  ['Problem', '问题'],
  ['Not checked', '未检查'],

  // Disks and container data.
  ['Disks', '磁盘'],
  ['No device has a file system.', '没有带文件系统的设备。'],
  ['not mounted', '未挂载'],
  ['at {mount}', '挂载于 {mount}'],
  ['Container data', '容器数据'],
  [
    'It is on the system disk, which is small and wears out. It can move to another one.',
    '容器数据位于系统盘。系统盘容量小且有写入寿命，可以将数据移动到其他磁盘。',
  ],
  [
    'It is not on the system disk. It can move to another folder.',
    '容器数据不在系统盘上，可以移动到其他目录。',
  ],
  ['Folder to move it to', '目标目录'],
  ['The folder begins with a slash, such as {example}.', '目录必须以斜杠开头，例如 {example}。'],
  ['Check', '检查'],
  [
    'The data can go there. Containers go on while it is copied, and stop only at the end, ' +
      'for as long as it takes to copy what has changed meanwhile.',
    '可以移动到此目录。复制期间容器继续运行，仅在最后复制期间有变化的内容时短暂停止。',
  ],
  ['Move the data', '移动数据'],
  [
    'There is something in this folder. Use it as it is, without copying anything, or ' +
      'replace it with the data that is in use now.',
    '此目录中已有内容。可以直接使用现有内容而不复制，或用当前使用的数据替换它。',
  ],
  ['Use what is there', '使用现有内容'],
  ['Replace what is there', '替换现有内容'],
  ['Replace what is in {path}?', '替换 {path} 中的内容？'],
  ['What is in this folder now is deleted.', '此目录中的现有内容将被删除。'],
  ['Replace', '替换'],

  // Feeds.
  ['Feeds', '软件源'],
  ['Add a feed', '添加软件源'],
  ['Name', '名称'],
  ['Address', '地址'],
  ['Add', '添加'],
  [
    'The device checks the feed before it is used. Packages of a feed may do anything on the ' +
      'device.',
    '使用之前设备会检查软件源。软件源中的软件包可以在设备上执行任何操作。',
  ],
  ['Add the feed {subject}', '添加软件源 {subject}'],
  ['Remove the feed {subject}', '删除软件源 {subject}'],
  ['Change the feed {subject}', '更改软件源 {subject}'],
  ['Remove the feed {name}?', '删除软件源 {name}？'],
  [
    'What was installed from it stays, and is not upgraded any more.',
    '已从中安装的内容会保留，但不再升级。',
  ],
  ['Switch off', '停用'],
  ['Switch on', '启用'],
  ['Switch off the feed {name}', '停用软件源 {name}'],
  ['Switch on the feed {name}', '启用软件源 {name}'],
  ['off', '已停用'],
  ['updated {ago}', '{ago}更新'],
  ['part of the system', '系统自带'],
  ['key {key}', '密钥 {key}'],

  // Fleet.
  ['Fleet', '集群管理'],
  [
    'This server may change packages of the device while it is switched on.',
    '启用期间，此服务器可以更改设备上的软件包。',
  ],
  ['Switched on', '已启用'],
  ['Switched off', '已停用'],
  ['The last poll failed: {reason}', '上次查询失败：{reason}'],
  ['Server', '服务器'],
  ['Known there as', '服务器上的名称'],
  ['Last poll', '上次查询'],
  ['none yet', '尚未查询'],
  ['Next poll', '下次查询'],
  ['Ask now', '立即查询'],
  ['Agree', '同意'],
  ['Decline', '拒绝'],
  ['Switch off the fleet server', '停用集群服务器'],
  ['Switch on the fleet server', '启用集群服务器'],
  ['Offered', '待处理'],
  ['Downloading', '正在下载'],
  ['Waiting for its time', '等待执行时间'],
  ['Do you agree?', '是否同意？'],
  ['Canceled', '已取消'],
  ['Downloaded', '已下载'],
  ['{done} of {total}', '{done}，共 {total}'],
  ['The server does not know yet how it ended.', '结果尚未报告给服务器。'],
  ['Roll out {subject}', '部署 {subject}'],
  ['in less than a minute', '不到一分钟后'],

  // Uploads.
  ['Install a file', '安装文件'],
  ['File to install', '要安装的文件'],
  [
    'A package (.ipk or .apk) or a .run file, which is a program: it may do anything on the ' +
      'device. A file can be dropped anywhere on this page.',
    '软件包（.ipk 或 .apk）或 .run 文件。.run 文件是程序，可以在设备上执行任何操作。' +
      '文件可以拖放到此页面的任何位置。',
  ],
  ['Drop the file to install it', '松开以安装此文件'],
  [
    'The name of the file must end in .ipk, .apk or .run.',
    '文件名必须以 .ipk、.apk 或 .run 结尾。',
  ],
  [
    '{file} ({size}) is a program: it may do anything on the device.',
    '{file}（{size}）是程序，可以在设备上执行任何操作。',
  ],
  ['{file} ({size}) is sent to the device and installed.', '{file}（{size}）将上传到设备并安装。'],
  ['Sending {name}: {percent}', '正在上传 {name}：{percent}'],
  ['The device checks {name} …', '设备正在检查 {name}…'],
  ['The file was not sent.', '文件没有上传。'],
  [
    'The connection broke while the file was sent. It may be larger than the device ' +
      'takes, or have changed.',
    '上传文件时连接中断。文件可能超过了设备允许的大小，或在上传过程中发生了变化。',
  ],
  ['Cancel', '取消'],
  ['Uploaded files', '上传的文件'],
  [
    'None. What uploaded files bring is noted here, and can be removed again.',
    '没有记录。上传文件所安装的内容会记录在这里，并可以卸载。',
  ],
  ['Remove what {file} brought?', '卸载 {file} 安装的内容？'],
  [
    'The packages that came with this file go, but for those that something else needs.',
    '将卸载随此文件安装的软件包；仍被其他软件包需要的会保留。',
  ],
];
