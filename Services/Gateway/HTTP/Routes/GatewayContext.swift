import Bus
import Hummingbird
import NIOCore
import ServiceContextModule
import ServiceKit

/// The context of a request in the gateway.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The request's connection.
    let channel: any Channel
    /// The result of the check of the request's credential; anonymous until ``missingCheck`` is done.
    var authentication: Authentication = .anonymous
    /// Asks the people service for a credential of which the gateway has no usable copy; `nil` if that is not necessary. ``Route``
    /// decides how long to wait.
    var missingCheck: (@Sendable (_ timeout: Duration) async -> Authentication)?
    /// The client, which may be behind a proxy; `nil` if it has no address.
    var client: IPAddress?
    /// Whether the client's connection is encrypted.
    var isSecure = false
    /// Whether a page of the gateway's own origin makes the request, as its browser says.
    var isOwnOrigin = false

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        client = IPAddress(source.channel.remoteAddress)
    }

    /// The client's network address, if it is known.
    var clientAddress: String? { client?.description }

    /// The request's id for the answer: the trace id in every service's log lines about the request.
    var requestID: String {
        ServiceContext.current?.traceparent?.traceID ?? ""
    }

    /// The account that makes the request; `nil` for an anonymous request, and for that of a device.
    var principal: Principal? { authentication.principal }

    /// The caller's identity for the request's commands.
    var caller: CallerContext { .init(actor: authentication.actor, address: clientAddress) }

    /// The caller's identity for commands that change accounts and rights.
    var credentialedCaller: CallerContext {
        .init(actor: principal?.actor, address: clientAddress, credential: principal?.hash)
    }

    /// An id for the answer to a request that could not be parsed.
    static func newRequestID() -> String {
        Traceparent().traceID
    }
}
