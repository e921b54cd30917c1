import FoundationEssentials
import Base
import Schemas
import ServiceKit
import TestSupport

/// The relay compared with Google's own sender for servers, `send_each` of the Firebase Admin SDK for Python: both on the
/// emulator, and both on a sink with minimal cost, which compares only the senders. A smoke run is without the sink, since nginx may not
/// be installed.
struct SDKBenchmark {
    let scale: Scale
    let peers: String

    private var rounds: Int { scale.pick(5, smoke: 1) }
    private var commands: Int { scale.pick(10_000, smoke: 100) }
    private var messagesOfSDK: Int { scale.pick(1_000, smoke: 20) }

    private struct Figures: Encodable {
        struct Sender: Encodable {
            /// Sends a second.
            let rate: Double
            /// Microseconds for each send.
            let processorTime: Double
        }

        let benchmark = "relay-sdk"
        /// `emulator` or `sink`.
        let server: String
        let relay: Sender
        let sdk: Sender
        let ratio: Double
        let processorTimeRatio: Double
    }

    /// A server for sends, with its address.
    private struct Server {
        let name: String
        let url: String
        let accountFile: String
        let certificateFile: String
    }

    func run() async throws {
        try await withTemporaryFolder { folder in
            let settings = try Emulator.settings(in: folder)
            try await withServices(["msi-fcm-emulator"], in: folder) { _, _ in
                settings
            } _: { running in
                let access = EmulatorAccess(port: try running[0].port, stateDirectory: folder)
                try await compare(
                    on: Server(
                        name: "emulator", url: access.url, accountFile: access.serviceAccountFile,
                        certificateFile: access.certificateFile),
                    in: folder)
            }
        }
        guard scale == .full else { return }
        try await withTemporaryFolder { folder in
            let sink = try await Sink(.immediateForAll, in: folder)
            do {
                let accountFile = try await RelayedMessage(in: folder).writeServiceAccount(tokenURI: sink.url + "/token")
                try await compare(
                    on: Server(
                        name: "sink", url: sink.url, accountFile: accountFile, certificateFile: sink.certificateFile), in: folder)
                await sink.stop()
            } catch {
                await sink.stop()
                throw error
            }
        }
    }

    private func compare(on server: Server, in folder: String) async throws {
        say(
            "sends a second to the \(server.name) (median of \(rounds) runs, in turns), and µs of processor time a send")
        let relay = try await RunningRelay(
            at: server.url, serviceAccountFile: server.accountFile, certificateFile: server.certificateFile,
            message: try RelayedMessage(in: folder), in: folder, peers: peers)
        do {
            let figures = try await measure(relay, on: server)
            await relay.stop()
            say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
        } catch {
            await relay.stop()
            throw error
        }
    }

    private func measure(_ relay: RunningRelay, on server: Server) async throws -> Figures {
        _ = try await relay.drive(commands: scale.pick(1_000, smoke: 100))
        var (own, ofSDK): ([Figures.Sender], [Figures.Sender]) = ([], [])
        say(Table.row("relay", "µs", "SDK", "µs", "ratio"))
        for _ in 0..<rounds {
            let (rate, time) = try await relay.drive(commands: commands)
            own.append(.init(rate: rate.rounded(), processorTime: time.rounded()))
            let peer = try await sendWithSDK(to: server)
            ofSDK.append(peer)
            say(
                Table.row(
                    "\(Int(rate))", "\(Int(time))", "\(Int(peer.rate))", "\(Int(peer.processorTime))",
                    "\((rate / peer.rate).twoDigits)"))
        }
        let (median, sdk) = (Self.median(own), Self.median(ofSDK))
        return Figures(
            server: server.name, relay: median, sdk: sdk, ratio: (median.rate / sdk.rate).twoDigits,
            processorTimeRatio: (sdk.processorTime / median.processorTime).twoDigits)
    }

    private func sendWithSDK(to server: Server) async throws -> Figures.Sender {
        let output = try await PythonScript.run(
            "send_each.py", [server.url, server.accountFile, server.certificateFile, "\(messagesOfSDK)"])
        let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 3 else { throw PeerFailure(description: "send_each.py printed \(output)") }
        return .init(rate: (numbers[0] / numbers[1]).rounded(), processorTime: (numbers[2] / numbers[0] * 1e6).rounded())
    }

    private static func median(_ runs: [Figures.Sender]) -> Figures.Sender {
        .init(rate: runs.map(\.rate).median, processorTime: runs.map(\.processorTime).median)
    }
}
