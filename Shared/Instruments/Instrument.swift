package import CoreMetrics

/// A metric of the product: its name, its meaning and its kind, declared once. The parts of the product record it through swift-metrics;
/// `ServiceKit` exposes it for Prometheus.
///
/// Names follow Prometheus's conventions: `msi_` for the product's own, a unit in the plural, `_total` for counters. The values of labels
/// come from small closed sets, such as the names of commands, and never from users.
package struct Instrument: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case counter
        case gauge
        /// Counts values by their size.
        ///
        /// - Parameter buckets: The upper bounds, ascending.
        case histogram(buckets: [Double])
    }

    package let name: String
    /// One sentence for operators.
    package let help: String
    package let kind: Kind

    /// The bounds of durations in seconds: from a fast local request to a slow database.
    package static let durations: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    package init(_ name: String, _ help: String, _ kind: Kind) {
        self.name = name
        self.help = help
        self.kind = kind
    }

    /// The series of a counter with these labels.
    package func counter(_ labels: KeyValuePairs<String, String> = [:]) -> Counter {
        Counter(label: name, dimensions: labels.map { ($0, $1) })
    }

    /// The series of a gauge with these labels.
    package func gauge(_ labels: KeyValuePairs<String, String> = [:]) -> Meter {
        Meter(label: name, dimensions: labels.map { ($0, $1) })
    }

    /// The series of a histogram of durations with these labels. They are recorded as nanoseconds and exposed in seconds.
    package func timer(_ labels: KeyValuePairs<String, String> = [:]) -> CoreMetrics.Timer {
        CoreMetrics.Timer(label: name, dimensions: labels.map { ($0, $1) })
    }

    /// The series of a histogram of other values with these labels.
    package func recorder(_ labels: KeyValuePairs<String, String> = [:]) -> Recorder {
        Recorder(label: name, dimensions: labels.map { ($0, $1) })
    }
}

extension CoreMetrics.Timer {
    /// Records the time since a moment.
    package func record(since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

extension Instrument {
    /// Every metric of the product, in the order of the exposition.
    package static let all: [Instrument] = [
        buildInfo, ready, processStartTime, processCPUTime, processMemory, processDescriptors, processMaxDescriptors,
        logLinesDropped,
        busRequests, busRequestDuration, busRefusedRequests, busConnections, busRefusedPeers,
        httpRequests, httpRequestDuration, httpConnections, deviceTokens, deviceEnds, personStreams,
        storeOperations, storeCommitSize, storeHealthy,
        outboxMessages, outboxOldestAge, outboxChanges, personPushes,
        fcmSends, fcmSendDuration, fcmRate, fcmFullRate, fcmWaiting, fcmQuotaUsed, fcmQuotaPause, fcmInFlight, fcmHealthy,
        fcmTokenAge, fcmTokenRemaining, fcmTokenRequests,
        webPushPushes, webPushSubscriptions, webPushProven, webPushWaiting, webPushInFlight, webPushHealthy, webPushRefusing,
        signIns, students, devices, erasuresWaiting, identityKeysAge,
        studyClasses, studySessions, studyAttendants, studyOverdue, studyPushesWaiting, studySessionEnds, studyJoins, studyPosts,
        canaryMessages, canaryDuration, canaryStarted, canaryLastReceived, canaryInterval,
        canaryPushes, canaryPushDuration, canaryPushStarted, canaryPushLastReceived,
    ]

    // Every process.

    package static let buildInfo = Instrument(
        "msi_build_info", "Always 1; the labels name the service and its version.", .gauge)
    package static let ready = Instrument(
        "msi_ready", "Whether the service can do its work: 1, or 0 while it starts, stops, or cannot use its database.", .gauge)
    package static let processStartTime = Instrument(
        "process_start_time_seconds", "When the process started, in seconds since 1970.", .gauge)
    package static let processCPUTime = Instrument(
        "process_cpu_seconds_total", "The processor time that the process has used, in seconds.", .counter)
    package static let processMemory = Instrument(
        "process_resident_memory_bytes", "The memory of the process that is in RAM.", .gauge)
    package static let processDescriptors = Instrument("process_open_fds", "The open file descriptors.", .gauge)
    package static let processMaxDescriptors = Instrument(
        "process_max_fds", "The maximum number of open file descriptors.", .gauge)

    package static let logLinesDropped = Instrument(
        "msi_log_lines_dropped_total", "Log lines that the journal or standard error did not take, and that were dropped.",
        .counter)

    // The bus.

    package static let busRequests = Instrument(
        "msi_bus_requests_total", "Commands that the service has answered, by command and status.", .counter)
    package static let busRequestDuration = Instrument(
        "msi_bus_request_duration_seconds", "How long the handler of a command takes, with the wait for its thread.",
        .histogram(buckets: durations))

    package static let busRefusedRequests = Instrument(
        "msi_bus_refused_requests_total", "Requests that were refused before a handler ran, by reason.", .counter)
    package static let busConnections = Instrument(
        "msi_bus_connection_changes_total", "Connections to other services that were made or lost.", .counter)
    package static let busRefusedPeers = Instrument(
        "msi_bus_refused_peers_total", "Connections that were refused, because the peer's key is unknown.", .counter)

    // The gateway.

    package static let httpRequests = Instrument(
        "msi_http_requests_total", "HTTP requests that the gateway has answered, by method, route and status.", .counter)
    package static let httpRequestDuration = Instrument(
        "msi_http_request_duration_seconds", "From a request to the head of its answer, by method and route.",
        .histogram(buckets: durations))
    package static let httpConnections = Instrument("msi_http_connections", "The open HTTP connections.", .gauge)
    package static let deviceTokens = Instrument(
        "msi_device_tokens_total", "Checks of the tokens of students' devices, by outcome: ok, or why a token was refused.",
        .counter)
    package static let deviceEnds = Instrument(
        "msi_device_ends", "The signed-out devices whose tokens the gateway still has to refuse.", .gauge)
    package static let personStreams = Instrument("msi_person_streams", "The open streams of GET /user/events.", .gauge)

    // The stores.

    package static let storeOperations = Instrument(
        "msi_store_operation_duration_seconds", "The operations on a database, with the wait for their turn.",
        .histogram(buckets: durations))
    package static let storeCommitSize = Instrument(
        "msi_store_commit_writes", "How many writes a commit of SQLite has.",
        .histogram(buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500]))

    package static let storeHealthy = Instrument(
        "msi_store_healthy",
        "By part: whether the service's stores take new documents (store), and have used less than nine tenths of their room (storage).",
        .gauge)

    // The outbox of the message log.

    package static let outboxMessages = Instrument(
        "msi_outbox_messages", "The messages of the archive that have not ended, by state.", .gauge)
    package static let outboxOldestAge = Instrument(
        "msi_outbox_oldest_age_seconds", "The age of the oldest message that should have gone out; 0 if there is none.", .gauge)
    package static let outboxChanges = Instrument(
        "msi_outbox_changes_total", "New messages and pushes, and those with another state, by kind and state.", .counter)
    package static let personPushes = Instrument(
        "msi_person_pushes_total", "Pushes to devices of persons that have ended, by outcome: ok, or the error's code.", .counter)

    // The relay.

    package static let fcmSends = Instrument(
        "msi_fcm_sends_total", "Sends to FCM by project and outcome: ok, or the error's code.", .counter)
    package static let fcmSendDuration = Instrument(
        "msi_fcm_send_duration_seconds", "From the turn of a command's sends to the last of FCM's answers.",
        .histogram(buckets: durations))
    package static let fcmRate = Instrument(
        "msi_fcm_rate_per_second", "The sends a second that the project may make now.", .gauge)
    package static let fcmFullRate = Instrument(
        "msi_fcm_full_rate_per_second", "The relay's share of the project's quota, in sends a second.", .gauge)
    package static let fcmWaiting = Instrument("msi_fcm_waiting_sends", "The sends that wait for their turn.", .gauge)
    package static let fcmQuotaUsed = Instrument(
        "msi_fcm_quota_used_ratio", "The sends of the last minute as a part of the relay's share of the project's quota.", .gauge)
    package static let fcmQuotaPause = Instrument(
        "msi_fcm_quota_pause_seconds", "For how long no message goes out because FCM's quota is used up; 0 if it is not.", .gauge)
    package static let fcmInFlight = Instrument("msi_fcm_commands_in_flight", "The commands that the relay works on.", .gauge)
    package static let fcmHealthy = Instrument(
        "msi_fcm_healthy", "Whether messages of the project reach FCM: 1, or 0 while they do not.", .gauge)

    package static let fcmTokenAge = Instrument(
        "msi_fcm_token_age_seconds", "The age of the project's access token; 0 if there is none.", .gauge)
    package static let fcmTokenRemaining = Instrument(
        "msi_fcm_token_remaining_seconds", "For how long the project's access token can still be used; 0 if there is none.",
        .gauge)
    package static let fcmTokenRequests = Instrument(
        "msi_fcm_token_requests_total", "Requests for an access token by project and outcome: ok or failed.", .counter)

    // Web Push. The label `service` is a push service: its host, or the domain of its hosts.

    package static let webPushPushes = Instrument(
        "msi_webpush_pushes_total", "Pushes to browsers by push service and outcome: ok, or the error's code.", .counter)
    package static let webPushSubscriptions = Instrument(
        "msi_webpush_subscriptions", "The subscriptions of browsers by push service.", .gauge)
    package static let webPushProven = Instrument(
        "msi_webpush_proven_subscriptions", "The subscriptions that have returned the code of their first push.", .gauge)
    package static let webPushWaiting = Instrument(
        "msi_webpush_waiting_pushes", "The pushes that wait for their turn, by push service.", .gauge)
    package static let webPushInFlight = Instrument(
        "msi_webpush_requests_in_flight", "The requests that a push service has not answered yet.", .gauge)
    package static let webPushHealthy = Instrument(
        "msi_webpush_healthy",
        "Whether pushes are sent to the push service: 1, or 0 while it does not answer or asks for a pause.",
        .gauge)
    package static let webPushRefusing = Instrument(
        "msi_webpush_refusing", "Whether the push service refuses the hub's pushes, which a person must correct: 1, or 0.", .gauge
    )

    // People.

    package static let signIns = Instrument("msi_sign_ins_total", "Attempts to sign in, by way and outcome.", .counter)
    package static let students = Instrument("msi_students", "The active accounts of students.", .gauge)
    package static let devices = Instrument("msi_devices", "The devices on which students are signed in.", .gauge)
    package static let erasuresWaiting = Instrument(
        "msi_erasures_waiting", "The erasures of persons that a service has not answered yet.", .gauge)
    package static let identityKeysAge = Instrument(
        "msi_identity_keys_age_seconds", "The age of an identity provider's keys, by provider.", .gauge)

    // Study sessions.

    package static let studyClasses = Instrument("msi_study_classes", "The classes that are not closed.", .gauge)
    package static let studySessions = Instrument("msi_study_sessions", "The open study sessions.", .gauge)
    package static let studyAttendants = Instrument(
        "msi_study_attendants", "The persons who are in an open study session.", .gauge)
    package static let studyOverdue = Instrument(
        "msi_study_overdue_seconds",
        "For how long an open study session has waited to be ended, or its attendants to be told something; 0 if none does.",
        .gauge)
    package static let studyPushesWaiting = Instrument(
        "msi_study_pushes_waiting", "The pushes about study sessions that the message log has not stored yet.", .gauge)
    package static let studySessionEnds = Instrument(
        "msi_study_session_ends_total", "Study sessions that have ended, by reason.", .counter)
    package static let studyJoins = Instrument(
        "msi_study_joins_total", "Attempts to join a study session, by outcome: ok, or the field of the conflict.", .counter)
    package static let studyPosts = Instrument(
        "msi_study_posts_total", "Posts to study sessions, by outcome: added, removed or limited.", .counter)

    // The canary.

    package static let canaryMessages = Instrument(
        "msi_canary_messages_total",
        "Messages of the canary that have ended, by outcome: received, late, not_stored, not_relayed or not_received.", .counter)
    package static let canaryDuration = Instrument(
        "msi_canary_duration_seconds",
        "From the post of a canary's message until it was stored, relayed to FCM, or reported by the phone.",
        .histogram(buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90, 120, 180, 300]))
    package static let canaryStarted = Instrument(
        "msi_canary_start_timestamp_seconds", "When the canary has started, in seconds since 1970.", .gauge)
    package static let canaryLastReceived = Instrument(
        "msi_canary_last_received_timestamp_seconds",
        "When a phone has last reported a message of the canary, in seconds since 1970; absent before the first one.", .gauge
    )
    package static let canaryInterval = Instrument(
        "msi_canary_interval_seconds", "The time between two messages of the canary.", .gauge)
    package static let canaryPushes = Instrument(
        "msi_canary_push_messages_total",
        "Messages of the canary by their push to its own Web Push subscription: received, late, not_stored, not_subscribed or "
            + "not_received.", .counter)
    package static let canaryPushDuration = Instrument(
        "msi_canary_push_duration_seconds",
        "From the post of a canary's message until its push has arrived at the canary's own Web Push subscription.",
        .histogram(buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]))
    package static let canaryPushStarted = Instrument(
        "msi_canary_push_start_timestamp_seconds",
        "When a canary with a Web Push subscription has started, in seconds since 1970.", .gauge)
    package static let canaryPushLastReceived = Instrument(
        "msi_canary_push_last_received_timestamp_seconds",
        "When a push has last arrived at the canary's subscription, in seconds since 1970; absent before the first one.", .gauge)
}
