/** One request of the walk through all operations. `path` lies below the API root. */
export interface Step {
  method: string;
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Who asks: the owner by token, the owner by password, the reviewer by password, or nobody. */
  as?: 'owner' | 'password' | 'reviewer' | 'nobody';
}

export interface Outcome {
  status: number;
  json: Record<string, unknown> | undefined;
}

export type Perform = (step: Step) => Promise<Outcome>;

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
export const DATES = { author: '2024-01-02T03:04:05Z', committer: '2024-01-02T03:04:05Z' };

/** The operations on the files of a repository. */
export async function walkFiles(perform: Perform, repo: string): Promise<void> {
  const get = (path: string, headers: Record<string, string> = {}): Promise<Outcome> =>
    perform({ method: 'GET', path: `${repo}${path}`, headers });
  await get('/raw/README.md');
  await get('/raw/README.md?ref=main');
  await get('/raw/README.md', { Range: 'bytes=0-3' });
  await get('/raw/README.md', { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' });
  await get('/raw/absent.txt');
  await perform({ method: 'HEAD', path: `${repo}/raw/README.md` });
  await perform({
    method: 'OPTIONS',
    path: `${repo}/contents`,
    headers: { Origin: 'http://elsewhere.example', 'Access-Control-Request-Method': 'GET' },
  });
  await get('/archive/main.tar.gz');
  await get('/archive/absent.zip');
  await get('/archive/main.unknown');
  await get('/editorconfig/x.go');
  const create = {
    content: base64('root = true\n[*.go]\nindent_style = tab\n'),
    message: 'definition',
    dates: DATES,
  };
  await perform({ method: 'POST', path: `${repo}/contents/.editorconfig`, body: create });
  await get('/editorconfig/x.go');
  await get('/editorconfig/src%2Fx.go');
  await get('/contents');
  await get('/contents?ref=main');
  await get('//contents///');
  await get('/contents/README.md');
  await get('/contents/absent');
  await perform({
    method: 'POST',
    path: `${repo}/contents/dir%2Fa%252Fb+c;d%20e.txt`,
    body: { content: base64('one'), dates: DATES },
  });
  await get('/raw/dir/a%252Fb+c;d%20e.txt');
  await perform({ method: 'POST', path: `${repo}/contents/bad.txt`, body: { content: '§§' } });
  await perform({
    method: 'POST',
    path: `${repo}/contents/page.html`,
    body: { content: base64('<script>1</script>'), dates: DATES },
  });
  await get('/raw/page.html');
  await walkFileChanges(perform, repo);
}

async function walkFileChanges(perform: Perform, repo: string): Promise<void> {
  const made = await perform({
    method: 'POST',
    path: `${repo}/contents/file.txt`,
    body: { content: base64('one'), dates: DATES },
  });
  const { sha } = (made.json?.['content'] ?? {}) as { sha?: string };
  await perform({
    method: 'POST',
    path: `${repo}/contents/file.txt`,
    body: { content: base64('again') },
  });
  await perform({
    method: 'PUT',
    path: `${repo}/contents/file.txt`,
    body: { content: base64('two') },
  });
  const changed = await perform({
    method: 'PUT',
    path: `${repo}/contents/moved.txt`,
    body: { content: base64('two'), sha, from_path: 'file.txt', dates: DATES },
  });
  await perform({
    method: 'DELETE',
    path: `${repo}/contents/moved.txt`,
    body: { sha: '0000000000000000000000000000000000000000' },
  });
  const { sha: last } = (changed.json?.['content'] ?? {}) as { sha?: string };
  await perform({
    method: 'DELETE',
    path: `${repo}/contents/moved.txt`,
    body: { sha: last, message: 'gone', dates: DATES },
  });
  await perform({
    method: 'DELETE',
    path: `${repo}/contents/moved.txt`,
    body: { sha: last },
    as: 'nobody',
  });
}
