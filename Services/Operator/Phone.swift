import ArgumentParser
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

/// `msi phone`: a simulated phone at the local FCM, which shows what it receives.
struct Phone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Simulates a phone at the local FCM emulator, and shows what it receives until Ctrl-C.",
        discussion: """
            It subscribes to all subjects that the cube has now, or to those under the given names, and shows their messages. It \
            shows no broadcasts; the phone of `deploy/run`, or msi-phone, does. The gateway is that of `msi send`; the emulator is the \
            one of this machine (MSI_FCM_EMULATOR_PORT, MSI_STATE_DIR).
            """)

    @Argument(
        help: ArgumentHelp("Only what is under these names: Campus, Campus/Weather or Campus/Weather/Storms.", valueName: "names")
    )
    var names: String?

    func run() async throws {
        try await Self.withGateway { gateway, settings in
            guard try settings.usesFCM else {
                throw GatewayFailure(
                    .refused,
                    "FCM is switched off (\(Setting.fcm.declaration.name)=off), and this phone gets its messages by FCM; a browser "
                        + "shows the students' app at \(gateway.url)/app/")
            }
            let topics = try topics(in: try await gateway.get("/channel"))
            let access = EmulatorAccess(
                port: try settings.value(.fcmEmulatorPort), stateDirectory: try settings.value(.stateDirectory))
            try await EmulatedPhone.with(access) { phone in
                for topic in topics { try await phone.subscribe(to: topic) }
                show("a phone with \(topics.count == 1 ? "one subject" : "\(topics.count) subjects") is on; Ctrl-C turns it off")
                try await untilInterrupted {
                    await phone.listen { show($0) }
                }
            }
        }
    }

    /// The topics of the subjects under the names.
    private func topics(in channels: [Channel]) throws -> [TopicKey] {
        let wanted = names?.split(separator: "/").map { String($0).caseFolded } ?? []
        let topics = channels.flatMap { channel in
            channel.areas.flatMap { area in
                area.subjects.filter { subject in
                    [channel.name, area.name, subject.name].map(\.caseFolded).starts(with: wanted)
                }.map(\.topicKey)
            }
        }
        guard !topics.isEmpty else {
            throw GatewayFailure(
                .refused, "there is no subject\(names.map { " under \"\($0)\"" } ?? "; `msi sample` adds a few")")
        }
        return topics
    }

    private func show(_ text: String) {
        print(text)
        fflush(nil)
    }
}
