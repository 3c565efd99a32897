// How a group of routes answers: the headers of all its replies, and the format of its errors. A route names its style;
// without a route, the path decides.
import assert from 'node:assert/strict';
import type { Request } from '@hapi/hapi';
import type { Fault } from '../base/faults.ts';

export interface ResponseStyle {
  /** Sent with every reply, including streams and errors. */
  readonly headers: Readonly<Record<string, string>>;
  renderFault(reason: Fault): RenderedFault;
}

export interface RenderedFault {
  /** The content-type. */
  readonly type: string;
  readonly body: string;
}

/** Chooses the style of a path without a route. */
export type StyleAt = (path: string) => ResponseStyle;

declare module '@hapi/hapi' {
  interface PluginSpecificConfiguration {
    readonly style?: ResponseStyle;
  }
  interface ServerOptionsApp {
    styleAt?: StyleAt;
    /** Sent with every reply, whatever its style. */
    headers?: Readonly<Record<string, string>>;
  }
}

export function readResponseStyle(request: Request): ResponseStyle {
  const style = request.route.settings.plugins?.style ?? request.server.settings.app?.styleAt?.(request.path);
  assert(style, `no response style is set for ${request.path}`);
  return style;
}
