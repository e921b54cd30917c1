import Schemas
import TestSupport

/// The observations of a chaos run after its end.
struct Evidence: Sendable {
    /// Messages that were answered with 201.
    var accepted: [Traffic.Accepted] = []
    /// Every message of the archive, by `msi_key`.
    var archive: [String: ArchivedMessage] = [:]
    /// Every send that FCM accepted, in order.
    var sends: [SentComponent: [AcceptedSend]] = [:]
    /// What was done with messages beside posting them, and answered with 200.
    var interventions: [Interventions.Done] = []
    /// `nil` if the run was not about it.
    var audit: AuditEvidence?
    /// The pushes that the message log accepted, from its answers.
    var acceptedPushes: [Push] = []
    /// The pushes that are stored at the end.
    var storedPushes: [ObjectID: Push] = [:]
    /// Every send of a push that FCM accepted.
    var pushSends: [PushSend] = []
    /// The broadcasts, as the answers to the communicator have left them.
    var sentBroadcasts: [SentBroadcast] = []
    /// The broadcasts in the hub's log.
    var loggedBroadcasts: [LoggedBroadcast] = []
    /// What was done with the cube.
    var cubeEdits = CubeEdits()
    var cube = CubeEvidence()
    /// What students had done.
    var students: [StudentEvidence] = []
    /// What people did who studied together; `nil` if nobody did.
    var study: StudyEvidence?
    var join = JoinEvidence()
    /// When portals gave up waiting for an answer, Unix milliseconds.
    var hangs: [Int64] = []
    /// What the phones have; `nil` if there were none.
    var phones: PhoneEvidence?
    /// What the browsers have; `nil` if there were none.
    var browsers: BrowserEvidence?
    /// Which relay received FCM's acceptance of a send, by FCM's name.
    var acceptances: [String: Observation] = [:]
    /// Which relays have reported a component as not accepted.
    var failures: [SentComponent: [Observation]] = [:]
    /// Which relays ended while they were sending a component.
    var unfinished: [SentComponent: Set<Part>] = [:]
    /// When posts were refused because the disk was full, Unix milliseconds.
    var refusals: [Int64] = []
    var injectedFaults: [InjectedFault] = []
    /// How long the database may take to store what a relay has answered, in milliseconds.
    var storing = StrayCopy.margin
    var failedStarts: [RunningPart.FailedStart] = []
    /// What the services logged about a message, by its `msi_key`.
    var logLines: @Sendable (_ msiKey: String) -> [String] = { _ in [] }
    /// Problems in any case: unexpected answers, and processes that ended by themselves.
    var problems: [String] = []
}

/// A relay has received an answer about a send.
struct Observation: Hashable, Sendable {
    let relay: Part
    /// Unix milliseconds.
    let time: Int64
}
