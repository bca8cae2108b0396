import { DepotError } from '../../errors.ts';
import { Refusal } from '../../http/respond.ts';
import { KEY_HEADER } from '../../http/session/sessions.ts';
import type { LoginMethod } from './method.ts';
import { pageLanguage } from './page-language.ts';

/**
 * The page again with what was wrong, or the next. A script reads the session's key from the
 * answer's header; for a browser it stands behind the `#`, which reaches no server.
 */
export async function answerPage(
  { form }: LoginMethod,
  { request, username, page }: { request: Request; username: string | undefined; page: string },
  action: () => Promise<Record<string, string>>,
): Promise<Response> {
  try {
    const headers = await action();
    if (page === 'script') return done(headers);
    // Relative: a server in front may show another prefix (RFC 9110, section 10.2.2).
    const location = `../#key=${headers[KEY_HEADER] ?? ''}`;
    return new Response(null, {
      status: 303,
      headers: { 'cache-control': 'no-store', location, ...headers },
    });
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    const { message, status } = error;
    const { loginPage } = await import('../../panel/login-page.ts');
    const fields = await form();
    const headers = error instanceof Refusal ? error.headers : {};
    return loginPage(fields, {
      language: pageLanguage(request),
      problem: { message, status, headers, username },
    });
  }
}

export function done(headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 204, headers: { 'cache-control': 'no-store', ...headers } });
}
