import NIOCore
import NIOHTTP2
import NIOSSL
import Schemas
import Testing

@testable import FCMEmulator

@Suite("Clients' protocol errors")
struct ClientFaultTests {
    @Test("A broken connection or stream is the client's fault, and no error of the emulator")
    func faults() {
        for error in [NIOHTTP2Errors.noSuchStream(streamID: 3), ChannelError.inputClosed, NIOSSLError.uncleanShutdown]
            as [any Error]
        {
            #expect(ErrorMiddleware.isClientsFault(error), "\(error)")
        }
        #expect(!ErrorMiddleware.isClientsFault(CommandFailure(.internal, "a defect")))
    }
}
