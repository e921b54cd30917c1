import CZeroMQ
import CoreMetrics
import Instruments
import Logging
import Base

/// Decides for ZeroMQ which peers may connect (ZAP, https://rfc.zeromq.org/spec/27/), and renews the list of peers.
///
/// The bus thread owns it once it is attached.
final class PeerGate: BusParticipant, @unchecked Sendable {
    private let socket: ZeroMQSocket
    private let keyRing: KeyRing
    private let logger: Logger
    private var nextLook: MonotonicMilliseconds = 0
    private var nextReport: MonotonicMilliseconds = 0
    /// The refused peers that are not in the log yet.
    private var refused = 0

    /// ZeroMQ asks here.
    private static let address = "inproc://zeromq.zap.01"
    private static let lookInterval: Milliseconds = 1_000
    /// The minimum interval between log lines about refused peers, which anyone in the network can cause.
    private static let reportInterval: Milliseconds = 10_000
    private static let questionsPerTurn = 64

    init(_ keyRing: KeyRing, context: ZeroMQContext, logger: Logger) throws(BusError) {
        let socket = try context.makeSocket(ZMQ_REP)
        do {
            try socket.set(ZMQ_LINGER, Int32(0))
            try socket.bind(to: Self.address)
        } catch {
            socket.close()
            throw error
        }
        self.socket = socket
        self.keyRing = keyRing
        self.logger = logger
    }

    // MARK: Questions

    var sockets: [ZeroMQSocket] { [socket] }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        for count in 0..<Self.questionsPerTurn {
            guard let question = nextQuestion() else { return count > 0 }
            answer(question, now: now)
        }
        return true
    }

    private struct Question {
        /// What the answer repeats.
        var id: [UInt8] = []
        var address = ""
        var mechanism = ""
        var key: BusKey?
    }

    /// The frames are: version, request id, domain, address, the peer's identity, mechanism, and for CURVE the peer's public key.
    private func nextQuestion() -> Question? {
        var question: Question?
        var more = true
        var number = 0
        while more {
            let isFrame: Void? = socket.receive { bytes, hasMore in
                more = hasMore
                var known = question ?? Question()
                switch number {
                case 1: known.id = Array(bytes)
                case 3: known.address = String(decoding: bytes.prefix(100), as: UTF8.self)
                case 5: known.mechanism = String(decoding: bytes.prefix(20), as: UTF8.self)
                case 6: known.key = BusKey(bytes: bytes)
                default: break
                }
                question = known
            }
            guard isFrame != nil else { break }
            number += 1
        }
        return question
    }

    private func answer(_ question: Question, now: MonotonicMilliseconds) {
        let name = question.mechanism == "CURVE" ? question.key.flatMap(keyRing.name) : nil
        let (status, text) = name == nil ? ("400", "unknown key") : ("200", "OK")
        let frames = [
            Array("1.0".utf8), question.id, Array(status.utf8), Array(text.utf8), Array((name ?? "").utf8.prefix(255)), [],
        ]
        // ZeroMQ drops the answer if the peer is gone.
        for (index, frame) in frames.enumerated() { _ = socket.send(frame, more: index < frames.count - 1) }
        guard let name else { return refuse(question, now: now) }
        logger.debug("a peer has connected", metadata: ["peer": "\(name)", "address": "\(question.address)"])
    }

    private func refuse(_ question: Question, now: MonotonicMilliseconds) {
        Instrument.busRefusedPeers.counter().increment()
        refused += 1
        guard nextReport <= now else { return }
        logger.warning(
            "a peer was refused, because its key is not in the list of peers",
            metadata: [
                "key": "\(question.key?.text ?? "none")", "address": "\(question.address)", "refused": "\(refused)",
            ])
        refused = 0
        nextReport = now + Self.reportInterval
    }

    // MARK: The list

    var nextTick: MonotonicMilliseconds? { nextLook }

    func tick(now: MonotonicMilliseconds) {
        nextLook = now.next(Self.lookInterval)
        keyRing.renew()
    }

    func close() {
        socket.close()
    }
}
