import CommandBus
import Hummingbird
import NIOCore
import ServiceContextModule

/// The context of a request in the gateway.
struct GatewayContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The request's connection.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The request's id: the trace id in every service's log lines about it.
    var requestID: String {
        ServiceContext.current?.traceparent?.traceID ?? ""
    }

    /// The caller, for the commands that the request leads to. Until there are accounts, every caller is "Communicator" (seed,
    /// "Data Dictionary", `sender`).
    var caller: CommandBus.RequestContext { .init(actor: "Communicator") }

    /// An id for the answer to an incomplete request.
    static func newRequestID() -> String {
        Traceparent().traceID
    }
}
