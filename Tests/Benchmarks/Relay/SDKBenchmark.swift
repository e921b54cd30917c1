import FoundationEssentials
import JSON
import Schemas
import TestSupport

/// The relay beside Google's own sender for servers, `send_each` of the Firebase Admin SDK for Python, both on the emulator.
struct SDKBenchmark {
    private static let rounds = 5
    private static let commands = 10_000
    private static let messagesOfSDK = 1_000

    let peers: String

    private struct Figures: Encodable {
        struct Sender: Encodable {
            /// Sends a second.
            let rate: Double
            /// Microseconds a send.
            let processorTime: Double
        }

        let benchmark = "relay-sdk"
        let relay: Sender
        let sdk: Sender
        let ratio: Double
        let processorTimeRatio: Double
    }

    func run() async throws {
        say("sends a second to the emulator (best of \(Self.rounds) runs, in turns), and µs of processor time a send")
        let figures = try await withTemporaryFolder { folder in
            let port = try FreePort.choose()
            let behaviour = folder + "/behaviour.json"
            try Data(#"{"archive":{"keep":0},"quotas":{"project":[]}}"#.utf8).write(to: URL(filePath: behaviour))
            let emulator = try await ServiceProcess(
                "msi-fcm-emulator", in: folder,
                settings: ["MSI_FCM_EMULATOR_PORT": "\(port)", "MSI_FCM_EMULATOR_BEHAVIOUR_FILE": behaviour])
            do {
                let figures = try await measure("https://127.0.0.1:\(port)", in: folder)
                await emulator.stop()
                return figures
            } catch {
                await emulator.stop()
                throw error
            }
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ emulator: String, in folder: String) async throws -> Figures {
        let account = folder + "/fcm-emulator/service-account.json"
        let certificates = folder + "/fcm-emulator/ca.pem"
        let relay = try await RunningRelay(
            at: emulator, serviceAccountFile: account, certificateFile: certificates,
            message: try RelayedMessage(in: folder), in: folder, peers: peers)
        do {
            _ = try await relay.drive(commands: 1_000)
            var (own, sdk): ([Figures.Sender], [Figures.Sender]) = ([], [])
            say(Table.row("relay", "µs", "SDK", "µs", "ratio"))
            for _ in 0..<Self.rounds {
                let (rate, time) = try await relay.drive(commands: Self.commands)
                let output = try await PythonScript.run(
                    "send_each.py", [emulator, account, certificates, "\(Self.messagesOfSDK)"])
                let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
                guard numbers.count == 3 else { throw PeerFailure(description: "send_each.py printed \(output)") }
                own.append(.init(rate: rate.rounded(), processorTime: time.rounded()))
                sdk.append(
                    .init(rate: (numbers[0] / numbers[1]).rounded(), processorTime: (numbers[2] / numbers[0] * 1e6).rounded()))
                let columns = [own, sdk].compactMap(\.last).flatMap { [$0.rate, $0.processorTime] }.map { "\(Int($0))" }
                say(
                    Table.row(
                        columns[0], columns[1], columns[2], columns[3],
                        "\((rate / (numbers[0] / numbers[1])).twoDigits)"))
            }
            await relay.stop()
            let best = Self.best(own)
            let bestSDK = Self.best(sdk)
            return Figures(
                relay: best, sdk: bestSDK, ratio: (best.rate / bestSDK.rate).twoDigits,
                processorTimeRatio: (bestSDK.processorTime / best.processorTime).twoDigits)
        } catch {
            await relay.stop()
            throw error
        }
    }

    private static func best(_ runs: [Figures.Sender]) -> Figures.Sender {
        .init(rate: runs.map(\.rate).max() ?? 0, processorTime: runs.map(\.processorTime).min() ?? 0)
    }
}
