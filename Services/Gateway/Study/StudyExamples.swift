package import Base
package import Schemas

// The documents of study in the API's document.

extension ObjectID {
    fileprivate static var exampleClass: ObjectID { TopicKey.exampleTopic.channel }
    fileprivate static var exampleSession: ObjectID { TopicKey.exampleTopic.area }
    fileprivate static var exampleObject: ObjectID { TopicKey.exampleTopic.subject }
}

extension AccountName {
    fileprivate static var exampleFriends: [AccountName] { ["bob"].compactMap { AccountName($0) } }
}

// MARK: Classes

extension StudyClass: HasExample {
    package static var example: StudyClass {
        StudyClass(
            id: .exampleClass, name: "Data Structures", description: "Tuesdays and Thursdays, 9:30",
            identificationKey: "CS251-F26", professor: .exampleAccount, role: .student, newSessions: false,
            created: .exampleTime, closed: nil, members: 212, sessions: 3, nameDays: nil)
    }
}

extension ClassDraft: HasExample {
    package static var example: ClassDraft {
        ClassDraft(name: "Data Structures", description: "Tuesdays and Thursdays, 9:30", identificationKey: "CS251-F26")
    }
}

extension ClassEdit: HasExample {
    package static var example: ClassEdit { ClassEdit(description: "In room 12 from now on", nameDays: 180) }
}

extension ClassKeyDraft: HasExample {
    package static var example: ClassKeyDraft {
        ClassKeyDraft(role: .student, uses: 300, expires: .exampleTime + .seconds(14 * 86_400))
    }
}

extension ClassKeyDraft: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        ["properties": ["role": ["description": "student or ta: nobody becomes the professor of a class by a key."]]]
    }
}

extension ClassKey: HasExample {
    package static var example: ClassKey {
        ClassKey(
            id: .exampleObject, role: .student, code: .exampleClassKey, created: .exampleTime,
            expires: .exampleTime + .seconds(14 * 86_400), uses: 300, used: 211)
    }
}

extension Secret {
    fileprivate static var exampleClassKey: Secret { Secret("K7QF-2M9X") }
}

extension ClassKeyUse: HasExample {
    static var example: ClassKeyUse { ClassKeyUse(key: .exampleClassKey) }
}

extension ClassChoice: HasExample {
    static var example: ClassChoice { ClassChoice(newSessions: true) }
}

extension ClassMember: HasExample {
    package static var example: ClassMember {
        ClassMember(account: .exampleAccount, role: .student, number: 17, joined: .exampleTime)
    }
}

extension ClassRoleChange: HasExample {
    static var example: ClassRoleChange { ClassRoleChange(role: .assistant) }
}

extension ClassRoleChange: SchemaAnnotated {
    static var schemaAnnotations: JSONValue { ["properties": ["role": ["description": "student or ta."]]] }
}

// MARK: Places

extension Coordinate {
    /// The ranges of latitude and longitude in degrees, which a check cannot state because they are no integers.
    fileprivate static var schema: JSONValue {
        [
            "latitude": ["minimum": .integer(-90), "maximum": 90, "description": "In degrees, north positive."],
            "longitude": ["minimum": .integer(-180), "maximum": 180, "description": "In degrees, east positive."],
        ]
    }
}

extension Place: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        ["properties": Coordinate.schema.merging(["name": ["description": "What people call it."]])]
    }
}

extension Place: HasExample {
    package static var example: Place {
        Place(latitude: 51.50072, longitude: -0.12462, name: "Library, second floor")
    }
}

extension Position: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        let accuracy: JSONValue = [
            "minimum": 0, "maximum": 1_000_000, "description": "The radius in metres within which the device is.",
        ]
        return ["properties": Coordinate.schema.merging(["accuracy": accuracy])]
    }
}

extension Position: HasExample {
    package static var example: Position { Position(latitude: 51.50068, longitude: -0.12471, accuracy: 12) }
}

// MARK: Sessions

extension StudySession: HasExample {
    package static var example: StudySession {
        StudySession(
            id: .exampleSession, classID: .exampleClass, topics: ["Heaps", "Sorting"], description: "Chapter 6, by the window",
            place: .example, starts: .exampleTime, ends: .exampleTime + .seconds(3_600), sponsored: false, host: .exampleAccount,
            hostRole: .student, attendants: [.exampleAccount] + AccountName.exampleFriends, room: 100)
    }
}

extension StudySession: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "room": ["description": "The maximum number of attendants, not how many more may come."],
                "host_role": ["description": "The role in the class that the host had on becoming the host."],
            ]
        ]
    }
}

extension SessionAnswer: HasExample {
    package static var example: SessionAnswer { SessionAnswer(.example, now: .exampleTime + .seconds(300)) }
}

extension SessionDraft: HasExample {
    package static var example: SessionDraft {
        SessionDraft(
            topics: ["Heaps", "Sorting"], description: "Chapter 6, by the window", place: .example, minutes: 60,
            position: .example)
    }
}

extension SessionDraft: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "topics": ["uniqueItems": true, "description": "Each once; case and white space make no difference."],
                "position": ["description": "Where the caller is. Necessary unless the session is sponsored."],
                "attends": ["description": "Only of a sponsored session: false if the caller does not attend it."],
                "leave": ["description": "true to leave the session in which the caller is, or to end it as its host."],
            ]
        ]
    }
}

extension SessionEdit: HasExample {
    package static var example: SessionEdit { SessionEdit(topics: ["Heaps"], minutes: 90) }
}

extension SessionEdit: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "topics": ["uniqueItems": true, "description": "Each once; case and white space make no difference."],
                "minutes": ["description": "The planned duration, counted from the start."],
                "host": ["description": "Another attendant, who hosts the session from now on."],
            ]
        ]
    }
}

extension SessionJoin: HasExample {
    static var example: SessionJoin { SessionJoin(leave: true) }
}

extension InviteDraft: HasExample {
    static var example: InviteDraft { InviteDraft(accounts: AccountName.exampleFriends) }
}

extension HostPresence: HasExample {
    package static var example: HostPresence { HostPresence(.outside, ends: .exampleTime + .seconds(300)) }
}

extension HostPresence: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        let text: JSONValue = "true if the report did not count, because its accuracy is not sufficient; absent otherwise."
        return ["properties": ["inaccurate": ["description": text]]]
    }
}

extension FindNearSessions: HasExample {
    package static var example: FindNearSessions { FindNearSessions(around: .example, radius: 800) }
}

// MARK: Posts and history

extension SessionPost: HasExample {
    package static var example: SessionPost {
        SessionPost(
            id: .exampleObject, author: .exampleAccount, number: nil, role: .student, text: "We are at the table by the window.",
            at: .exampleTime, removed: nil)
    }
}

extension PostDraft: HasExample {
    static var example: PostDraft { PostDraft(text: "We are at the table by the window.") }
}

extension PastSession: HasExample {
    package static var example: PastSession {
        let person = PastPerson(account: .exampleAccount, number: 17)
        return PastSession(
            id: .exampleSession, topics: ["Heaps", "Sorting"], description: nil, placeName: "Library, second floor",
            starts: .exampleTime, ended: .exampleTime + .seconds(3_600), reason: .time, sponsored: false, host: person,
            attendants: [PastAttendance(person: person, joined: .exampleTime, minutes: 60)], posts: 4)
    }
}

extension OwnPastSession: HasExample {
    package static var example: OwnPastSession {
        OwnPastSession(
            id: .exampleSession, classID: .exampleClass, topics: ["Heaps", "Sorting"], joined: .exampleTime, minutes: 60,
            hosted: true)
    }
}

extension OwnPastSession: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        ["properties": ["hosted": ["description": "Whether the caller was its host when it ended."]]]
    }
}

// MARK: Limits

extension StudyRules: HasExample {
    package static var example: StudyRules {
        StudyRules(
            radius: 150, accuracy: 200, grace: 300, maxMinutes: 720, attendants: 100, sponsored: 5, postsPerMinute: 10,
            invites: 50, classes: 30, members: 5_000, sessions: 500)
    }
}

extension StudyMap: HasExample {
    static var example: StudyMap {
        StudyMap(
            tiles: "https://tile.example.edu/{z}/{x}/{y}.png", attribution: "© Example University",
            leaflet: "/app/leaflet/0f1c7a52d9be4471/", plan: MapRoutes.planPath)
    }
}
