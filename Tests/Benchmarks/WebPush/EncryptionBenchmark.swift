import Base
import FoundationEssentials
import Schemas
import TestSupport
import WebPushKeys

/// The encryption of pushes on one thread, compared with OpenSSL's libcrypto doing the same.
struct EncryptionBenchmark {
    let scale: Scale
    let peers: String

    private var rounds: Int { scale.pick(5, smoke: 1) }
    private var messages: Int { scale.pick(20_000, smoke: 20) }
    private var browserCount: Int { scale.pick(1_000, smoke: 3) }

    private struct Figures: Encodable {
        let benchmark = "webpush-encryption"
        /// Messages a second.
        let product: Double
        let openSSL: Double
        let ratio: Double
        /// Microseconds for each message.
        let productTime: Double
        let openSSLTime: Double
        /// The length of a text, in bytes.
        let textLength: Int
    }

    func run() async throws {
        let browsers = (0..<browserCount).map { _ in PushKeys() }
        let keys = try browsers.map { try $0.browserKeys }
        let text = SamplePayload.data
        say("encrypted messages of \(text.count) bytes a second, on one thread (median of \(rounds) runs, in turns)")
        say(Table.row("product", "OpenSSL", "ratio"))
        let figures = try await withTemporaryFolder { folder in
            let peer = try Peers(browsers, text: text, peers: peers, folder: folder)
            // Both have used each algorithm before the measurement.
            _ = try encrypt(text, to: keys, messages: min(messages, 500))
            var (product, openSSL): ([Double], [Double]) = ([], [])
            for _ in 0..<rounds {
                product.append(try encrypt(text, to: keys, messages: messages))
                openSSL.append(try await peer.encrypt(messages))
                let (rate, peerRate) = (product[product.count - 1], openSSL[openSSL.count - 1])
                say(Table.row("\(Int(rate))", "\(Int(peerRate))", "\((rate / peerRate).twoDigits)"))
            }
            let (rate, peerRate) = (product.median, openSSL.median)
            return Figures(
                product: rate.rounded(), openSSL: peerRate.rounded(), ratio: (rate / peerRate).twoDigits,
                productTime: (1e6 / rate).twoDigits, openSSLTime: (1e6 / peerRate).twoDigits, textLength: text.count)
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    /// Encrypts with the product's code, which is synchronous: so it stays on one thread.
    ///
    /// - Returns: Messages a second.
    private func encrypt(_ text: Data, to keys: [BrowserKeys], messages: Int) throws -> Double {
        let begin = ContinuousClock.now
        var length = 0
        for number in 0..<messages { length += try PushEncryption.encrypt(text, to: keys[number % keys.count]).count }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        guard length == messages * (text.count + PushEncryption.overhead) else {
            throw PeerFailure(description: "\(messages) encrypted messages have \(length) bytes")
        }
        return Double(messages) / seconds
    }

    /// The C program, whose last message is read as its browser reads it.
    private struct Peers {
        private let browsers: [PushKeys]
        private let text: Data
        private let program: Peer
        private let folder: String

        init(_ browsers: [PushKeys], text: Data, peers: String, folder: String) throws {
            (self.browsers, self.text, self.folder) = (browsers, text, folder)
            program = Peer(path: peers + "/raw_webpush")
            let lines = try browsers.map { browser in
                let keys = try browser.browserKeys
                return "\(keys.point.hex) \(keys.auth.hex)\n"
            }
            try Data(lines.joined().utf8).write(to: URL(filePath: folder + "/keys"))
            try text.write(to: URL(filePath: folder + "/text"))
        }

        /// - Returns: Messages a second.
        func encrypt(_ messages: Int) async throws -> Double {
            let body = folder + "/body"
            let result = try await program.run([folder + "/keys", folder + "/text", "\(messages)", body])
            let last = browsers[(messages - 1) % browsers.count]
            let read = try last.read(Data(contentsOf: URL(filePath: body)))
            guard read == text else { throw PeerFailure(description: "raw_webpush encrypted another text") }
            return result.count / result.seconds
        }
    }
}

extension Data {
    fileprivate var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
