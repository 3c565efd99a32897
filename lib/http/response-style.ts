// How a group of routes answers: the headers of all its replies, and the format of its errors. A route names its face;
// without a route, the path decides.
import assert from 'node:assert/strict';
import type { Request } from '@hapi/hapi';
import type { Fault } from '../base/faults.ts';

export interface ResponseStyle {
  /** For every reply, including streams and errors. */
  readonly headers: Readonly<Record<string, string>>;
  renderFault(reason: Fault): RenderedFault;
}

export interface RenderedFault {
  /** The content type. */
  readonly type: string;
  readonly body: string;
}

/** The face of a path without a route. */
export type ResponseStyleAt = (path: string) => ResponseStyle;

declare module '@hapi/hapi' {
  interface PluginSpecificConfiguration {
    readonly face?: ResponseStyle;
  }
  interface ServerOptionsApp {
    faceAt?: ResponseStyleAt;
    /** Of every reply, whatever its face. */
    headers?: Readonly<Record<string, string>>;
  }
}

export function readResponseStyle(request: Request): ResponseStyle {
  const face = request.route.settings.plugins?.face ?? request.server.settings.app?.faceAt?.(request.path);
  assert(face, `no face is set for ${request.path}`);
  return face;
}
