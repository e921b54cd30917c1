import CommandBus
import Schemas

/// The FCM relay as a target. The load replaces the message log.
struct RelayTarget: LoadTarget {
    let client: CommandClient
    let mix: MessageMix
    let executor: (any TaskExecutor)?
    private let topics: [TopicKey]

    /// A relay's maximum time for a command.
    private static let commandTimeout = Duration.seconds(30)

    init(client: CommandClient, on bus: Bus, mix: MessageMix) {
        self.client = client
        executor = bus.taskExecutor
        self.mix = mix
        topics = (0..<mix.topics).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
    }

    /// The class of a failure. The bus's messages for `unavailable` are few sentences that name the relay, so they are
    /// part of the class.
    private static func errorClass(of failure: CommandFailure) -> String {
        let status = "bus \(failure.status.rawValue)"
        return failure.status == .unavailable ? "\(status) (\(failure.message))" : status
    }

    /// An older relay does not know `relay.pace`.
    func bottlenecks() async -> Set<Bottleneck> {
        guard let pace = try? await client.request(ReadPace(), timeout: .seconds(1)) else { return [] }
        return Set(pace.projects.compactMap(Self.bottleneck))
    }

    private static func bottleneck(of project: ProjectPace) -> Bottleneck? {
        if project.pausedFor != nil { return .quota }
        guard project.waiting > 0 else { return nil }
        return project.rate < project.fullRate ? .ramp : .pace
    }

    func send(_ index: Int) async -> [String]? {
        let sample = mix.sample(index)
        let command = RelayMessage(
            msiKey: ObjectID(), timestamp: .now,
            draft: MessageDraft(
                title: "Message \(index)", desc: sample.distribution == .alert ? "A load test" : "", message: sample.text,
                topicKey: topics[sample.topic], distribution: sample.distribution))
        do throws(CommandFailure) {
            let errors = try await client.request(command, timeout: Self.commandTimeout).components.compactMap { outcome in
                if case .failure(let error) = outcome.result { "fcm \(error.code)" } else { nil }
            }
            return errors.isEmpty ? nil : errors
        } catch {
            return [Self.errorClass(of: error)]
        }
    }
}
