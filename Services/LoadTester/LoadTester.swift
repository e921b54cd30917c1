import ArgumentParser
import ServiceKit

/// `msi-load`: shows how much the relay, or the whole product, can take.
@main
struct LoadTester: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "msi-load",
        abstract: "Sends messages at a steady rate, or as fast as possible, and shows how long each took.",
        discussion: """
            With --rate the load is open: each message has its moment, and its time counts from then on, whether or not those \
            before it have been answered. What a stalled service keeps waiting is in the figures (no coordinated omission).
            """,
        subcommands: [RelayLoad.self, GatewayLoad.self])

    static func main() {
        ProcessMain.run(makesPrivateFiles: false) { await main(nil) }
    }
}
