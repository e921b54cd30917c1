import Hummingbird
import NIOCore

/// Hummingbird's request context, with the event loop of the connection for timers.
struct EmulatorRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let eventLoop: any EventLoop

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        eventLoop = source.channel.eventLoop
    }
}
