import HummingbirdCore
import Logging
import NIOCore

/// Connections that end soon after the emulator was told to stop, also those whose peer is stuck in the TLS handshake, or
/// does not answer at all: else each of them could keep the emulator from stopping for as long as it pleases.
struct BoundedConnections<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        do {
            // First of all handlers, so that its close goes straight to the socket and waits for no goodbye of TLS.
            try channel.pipeline.syncOperations.addHandler(StoppingDeadline())
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Closes its connection a second after the server has asked it to come to an end.
private final class StoppingDeadline: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private static let patience = TimeAmount.seconds(1)

    private var end: Scheduled<Void>?

    func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, end == nil {
            end = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
                context.close(mode: .all, promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }
}
