package import Base
package import Schemas

extension ServiceEntry {
    /// The service of classes and study sessions.
    package static let study: ServiceEntry = ServiceEntry(
        "study", "keeps classes, their study sessions, and the posts to these.",
        title: "study service",
        sockets: [.commands, .events],
        uses: [
            // It logs pushes to persons.
            BusUse(service: .messageLog, sockets: [.commands], isNeededAtStart: false),
            // For the audit log.
            BusUse(service: .people, sockets: [.commands], isNeededAtStart: false),
        ],
        gatewayUses: [.commands, .events],
        gatewayNeed: .otherLater,
        keepsData: true, keepsPersonalData: true,
        stateFiles: ["study.sqlite"],
        settings: SettingDeclaration.study)
}

extension SettingDeclaration {
    /// The settings of the study service.
    static let study: [SettingDeclaration] = [
        Setting.studyRadius.declaration, Setting.studyAccuracy.declaration, Setting.studyGrace.declaration,
        Setting.studyMaxMinutes.declaration, Setting.studyAttendants.declaration, Setting.studySponsored.declaration,
        Setting.studyPostsPerMinute.declaration, Setting.studyInvites.declaration, Setting.studyClasses.declaration,
        Setting.studyMembers.declaration, Setting.studySessions.declaration, Setting.studyRetention.declaration,
    ]

    /// The settings of the map of study sessions, which the gateway's pages show.
    static let map: [SettingDeclaration] = [
        Setting.mapTiles.declaration, Setting.mapAttribution.declaration, Setting.mapPlan.declaration,
        Setting.leafletFolder.declaration,
    ]
}

extension Setting where Value == Int {
    package static let studyRadius = integer(
        "study.radius", "The radius of the area of a study session, in metres: who starts one has to be in it.", in: 20...5_000,
        default: 150
    ).changingLive()
    package static let studyAccuracy = integer(
        "study.accuracy", "A position that a device reports counts if its accuracy is at most this many metres.", in: 5...5_000,
        default: 200
    ).changingLive()
    package static let studyMaxMinutes = integer(
        "study.max.minutes", "The maximum planned duration of a study session, in minutes.", in: 5...1_440, default: 720
    ).changingLive()
    package static let studyAttendants = integer(
        "study.attendants", "The maximum number of attendants of a study session.", in: 2...500, default: 100
    ).changingLive()
    package static let studySponsored = integer(
        "study.sponsored",
        "How many sponsored study sessions a teaching assistant or professor may have open without attending them.", in: 0...50,
        default: 5
    ).changingLive()
    package static let studyPostsPerMinute = integer(
        "study.posts.per.minute", "The maximum number of a person's posts to study sessions within a minute.", in: 1...600,
        default: 10
    ).changingLive()
    package static let studyInvites = integer(
        "study.invites", "The maximum number of persons whom one person invites to a study session.", in: 0...500, default: 50
    ).changingLive()
    package static let studyClasses = integer(
        "study.classes", "The maximum number of classes that a person may be in.", in: 1...100, default: 30
    ).changingLive()
    package static let studyMembers = integer(
        "study.members", "The maximum number of persons of a class.", in: 1...20_000, default: 5_000
    ).changingLive()
    package static let studySessions = integer(
        "study.sessions", "The maximum number of open study sessions of a class.", in: 1...1_000, default: 500
    ).changingLive()
    package static let studyRetention = integer(
        "study.retention", "For how many days study sessions that have ended are kept, with their posts; 0 is forever.",
        in: 0...36_500, default: 0
    ).changingLive()
}

extension Setting where Value == Seconds {
    package static let studyGrace = seconds(
        "study.grace",
        "For how many seconds the host of a study session may be outside of its area, after having been inside, before it ends.",
        in: 10...7_200, default: 300
    ).changingLive()
}

extension Setting where Value == String {
    package static let mapTiles = Setting(
        "map.tiles",
        "The address of the pictures of a map, from a server that learns where students look; without it the pages show the plan "
            + "of the campus.",
        expected: "an https:// address with {z}, {x} and {y}, such as https://tile.example.edu/{z}/{x}/{y}.png"
    ) { text in
        let isAddress = text.wholeMatch(of: /https:\/\/[^\s"'<>]{1,300}/) != nil
        return isAddress && ["{z}", "{x}", "{y}"].allSatisfy { text.contains($0) } ? text : nil
    }
    package static let mapAttribution = text(
        "map.attribution", "Who has made the pictures of the map, as its licence demands it on the map.", expected: "a text")
    package static let mapPlan = text(
        "map.plan",
        "A file with the plan of the campus (GeoJSON); without it the pages show that of an invented campus, which comes with "
            + "the product.",
        expected: "a file"
    ).readAtStart()
    package static let leafletFolder = text(
        "leaflet.dir", "The folder with leaflet.min.js and leaflet.css, which draw maps; without them the pages show lists.",
        expected: "a folder", default: "/usr/share/javascript/leaflet"
    ).readAtStart()
}

extension SettingValues {
    /// The limits of study sessions, which change at a reload.
    ///
    /// - Returns: A function that returns the present ones.
    /// - Throws: ``ConfigurationError``.
    package func studyRules() throws -> @Sendable () -> StudyRules {
        let radius = try live(.studyRadius)
        let accuracy = try live(.studyAccuracy)
        let grace = try live(.studyGrace)
        let maxMinutes = try live(.studyMaxMinutes)
        let attendants = try live(.studyAttendants)
        let sponsored = try live(.studySponsored)
        let postsPerMinute = try live(.studyPostsPerMinute)
        let invites = try live(.studyInvites)
        let classes = try live(.studyClasses)
        let members = try live(.studyMembers)
        let sessions = try live(.studySessions)
        return {
            StudyRules(
                radius: radius.value, accuracy: accuracy.value, grace: grace.value, maxMinutes: maxMinutes.value,
                attendants: attendants.value, sponsored: sponsored.value, postsPerMinute: postsPerMinute.value,
                invites: invites.value, classes: classes.value, members: members.value, sessions: sessions.value)
        }
    }
}
