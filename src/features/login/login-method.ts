import type { Context } from 'hono';
import type { LoginForm } from '../../panel/login-page.ts';
import type { NewSession } from './session-cookie.ts';

/** What a log-in request may carry. */
export interface LoginParams {
  username?: string | undefined;
  password?: string | undefined;
  /** A session of rpcd. */
  session?: string | undefined;
}

/** How people log in under one `main.auth`. */
export interface LoginMethod {
  /** Path of the cookie. */
  cookiePath: string;
  /** What the page asks for. */
  form: () => Promise<LoginForm>;
  /** @throws DepotError bad_request, forbidden, too_many_attempts, unavailable */
  logIn: (context: Context, params: LoginParams) => Promise<NewSession>;
  /** Ends the session of that token. @throws DepotError unavailable */
  logOut: (headers: Headers, token: string) => Promise<void> | undefined;
}
