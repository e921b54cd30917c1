import ArgumentParser
import Base
import ServiceKit

/// `msi-load`: measures the throughput and latency of the relay, or of the whole product, also as students who study.
@main
struct LoadTester: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "msi-load",
        abstract: "Sends messages at a steady rate, or as fast as possible, and shows how long each took.",
        discussion: """
            With --rate the load is an open loop: each message has a due time, from which its latency counts, even if earlier \
            messages are not answered yet. So the wait for a stalled service is in the figures (no coordinated omission).
            """,
        version: "msi-load \(productVersion)",
        subcommands: [RelayLoad.self, GatewayLoad.self, StudyLoad.self])

    static func main() {
        ProcessMain.run(makesPrivateFiles: false) { await main(nil) }
    }
}
