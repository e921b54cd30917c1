package import Schemas

// The documents of the cube in the API's document.

extension NamedDraft: HasExample {
    package static var example: NamedDraft { NamedDraft(name: "Weather", desc: "Storms, ice and heat") }
}

extension SubjectDraft: HasExample {
    package static var example: SubjectDraft {
        SubjectDraft(name: "Storms", desc: "Warnings of storms", opt: SubjectOptions(level: .forced, distribution: .alert))
    }
}

extension Subject: HasExample {
    package static var example: Subject {
        Subject(
            id: TopicKey.exampleTopic.subject, name: "Storms", desc: "Warnings of storms", topicKey: .exampleTopic,
            opt: SubjectOptions(level: .forced, distribution: .alert))
    }
}

extension Area: HasExample {
    package static var example: Area {
        Area(id: TopicKey.exampleTopic.area, name: "Weather", desc: "Storms, ice and heat", subjects: [.example])
    }
}

extension Channel: HasExample {
    package static var example: Channel {
        Channel(id: TopicKey.exampleTopic.channel, name: "Campus", desc: "News for everyone on the campus", areas: [.example])
    }
}

extension TopicKey {
    /// The topic of the examples.
    static var exampleTopic: TopicKey {
        guard let topic = TopicKey(example) else { preconditionFailure("the example of a topic key is not valid") }
        return topic
    }
}

extension AccessList: HasExample {
    package static var example: AccessList { AccessList(access: ["ann", "bob"].compactMap { AccountName($0) }) }
}

extension CubeOrder: HasExample {
    package static var example: CubeOrder { CubeOrder(ids: [TopicKey.exampleTopic.area, TopicKey.exampleTopic.subject]) }
}

extension Approval: HasExample {
    package static var example: Approval { Approval(approval: true) }
}

extension SubjectPlace: HasExample {
    package static var example: SubjectPlace {
        SubjectPlace(channel: TopicKey.exampleTopic.channel, area: TopicKey.exampleTopic.area)
    }
}
