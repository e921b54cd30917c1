import FoundationEssentials
import Base
import TestSupport

/// All loads on one stack, in rounds: numbers of clients, and then half of the best rate.
struct MessageRun {
    let scale: Scale
    let target: MessageTarget
    let clients: [Int]
    /// How long each number of clients posts in each round.
    let seconds: Double

    private var rounds: Int { scale.pick(3, smoke: 1) }

    struct Lost: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter storage: Measured before each round.
    func measure(beside storage: inout StorageRounds) async throws -> MessageFigures.Run {
        var warmUp = MessageRounds(clients: scale.pick(64, smoke: 4))
        try await warmUp.run(target, seconds: scale.pick(2, smoke: 0.2))
        let before = try StackUsage(of: target.stack)
        var loads = clients.map { MessageRounds(clients: $0) }
        for _ in 0..<rounds {
            try await storage.run()
            for index in loads.indices { try await loads[index].run(target, seconds: seconds) }
        }
        let best = loads.map(\.figures.rate).max() ?? 0
        // Enough connections for those that wait while the disk is slow.
        var half = MessageRounds(clients: scale.pick(256, smoke: 16), rate: max(1, (best / 2).rounded()))
        for _ in 0..<rounds { try await half.run(target, seconds: scale.pick(4, smoke: 0.3)) }
        let all = loads + [half]
        try await check([warmUp] + all)
        return MessageFigures.Run(
            loads: loads.map(\.figures), halfRate: half.figures, memory: try StackUsage(of: target.stack).memory(since: before))
    }

    /// - Throws: ``Lost`` if an accepted message is not relayed, or not on the phone.
    private func check(_ loads: [MessageRounds]) async throws {
        let counts = loads.map(\.counts)
        let accepted = counts.reduce(0) { $0 + $1.accepted }
        // The statistics may follow the archive.
        try await eventually("the archive has \(accepted) accepted messages as relayed", within: .seconds(10)) {
            try await target.stack.relayedMessages() == accepted
        }
        guard target.phone == nil || counts.allSatisfy({ $0.lost == 0 && $0.relayed == $0.accepted }) else {
            let lost = counts.reduce(0) { $0 + $1.lost }
            throw Lost(description: "of \(accepted) accepted messages \(lost) are not on the phone, or FCM lacks one")
        }
    }
}
