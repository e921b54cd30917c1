import HummingbirdCore
import Logging
import NIOCore

/// Connections that end soon after the emulator was told to stop, also those whose peer is stuck in the TLS handshake, or
/// does not answer at all: else each of them could keep the emulator from stopping for as long as it pleases. And that are
/// not read from before somebody handles them, since a connection that is accepted just when the server stops is handled by
/// nobody: a request on it would end the process, as SwiftNIO takes its being dropped for a mistake.
struct BoundedConnections<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        do {
            // First of all handlers, so that its close goes straight to the socket and waits for no goodbye of TLS.
            try channel.pipeline.syncOperations.addHandler(StoppingDeadline())
            try channel.syncOptions?.setOption(.autoRead, value: false)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        // It fails only where the connection has ended already, which the base sees as well.
        try? await value.channel.setOption(.autoRead, value: true).get()
        await base.handle(value: value, logger: logger)
    }
}

/// Closes its connection a second after the server has asked it to come to an end, and breaks it off when told to.
private final class StoppingDeadline: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

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

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is ConnectionCut else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.cut()
        promise?.succeed()
    }
}
